/** The part of anywidget's model that a report uses; a saved page brings a stand-in without a kernel. */

/** Texts that `unpack` reads: all that is shown, and the answers to questions. */
export interface Traits {
  content: string;
  answers: Record<string, string>;
}

export interface Model {
  get<K extends keyof Traits>(name: K): Traits[K];
  on(event: string, callback: (message: unknown) => void): void;
  off(event: string, callback: (message: unknown) => void): void;
  send(message: unknown): void;
  /** Where no kernel can be asked: what to do to have a question answered. Without it, this is a saved page. */
  instead?: string;
}

/** The JSON that Python packed: compressed by zlib, in base64. JSON that is not packed is read as well. */
export async function unpack<T>(text: string): Promise<T> {
  // base64 has neither braces nor quotation marks
  if (/^["{]/.test(text)) return JSON.parse(text) as T;
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).json()) as T;
}
