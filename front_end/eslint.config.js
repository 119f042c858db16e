import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import tseslint from "typescript-eslint";

export default defineConfig(
  { files: ["**/*.ts"], extends: [js.configs.recommended, tseslint.configs.strictTypeChecked] },
  { files: ["**/*.ts"], languageOptions: { parserOptions: { projectService: true } } },
  {
    files: ["**/*.ts"],
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
    },
  },
  {
    files: ["build.js"],
    extends: [js.configs.recommended],
    languageOptions: { globals: { process: "readonly", console: "readonly", URL: "readonly" } },
  },
);
