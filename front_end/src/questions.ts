/** Questions to the kernel; the answers to some are there already. */
import { unpack } from "./model";
import type { Stage } from "./stage";

export const SILENT = "The kernel does not answer: it is busy, or gone. Run the cell again.";
export const SAVED = "This saved page does not hold that. Run the cell in a notebook to see it.";
const PATIENCE = 4000;

export interface Questions {
  /**
   * The answer, as soon as it is there, however late; `silent` hears the words if there is none for some seconds.
   * An answer that is an error is thrown.
   */
  ask: <T>(question: string, silent: (words: string) => void) => Promise<T>;
  /** Wait no longer. */
  close: () => void;
}

export function questionsOf(stage: Stage): Questions {
  const { model } = stage;
  const waiting = new Map<string, ((text: string) => void)[]>();
  const close = (): void => {
    waiting.clear();
    model.off("change:answers", listen);
  };
  const listen = (): void => {
    const answers = model.get("answers");
    for (const [question, tell] of waiting) {
      const text = answers[question];
      if (text === undefined) continue;
      waiting.delete(question);
      for (const each of tell) each(text);
    }
    if (!waiting.size) close();
  };
  const packed = async (question: string, silent: (words: string) => void): Promise<string> => {
    const known = model.get("answers")[question];
    if (known !== undefined) return known;
    if (!stage.content.live) throw Error(model.instead ?? SAVED);
    return new Promise((resolve) => {
      const timer = setTimeout(silent, PATIENCE, SILENT);
      if (!waiting.size) model.on("change:answers", listen);
      const tell = (text: string): void => {
        clearTimeout(timer);
        resolve(text);
      };
      waiting.set(question, [...(waiting.get(question) ?? []), tell]);
      try {
        model.send({ ask: question });
      } catch {
        silent(SILENT);
      }
    });
  };
  return {
    ask: async <T>(question: string, silent: (words: string) => void) => {
      const answer = await unpack<T & { error?: string }>(await packed(question, silent));
      if (answer.error) throw Error(answer.error);
      return answer;
    },
    close,
  };
}
