// Text of an XML 1.0 document.

/**
 * What XML 1.0 has no way to write, not even escaped: most control characters, lone surrogates, U+FFFE and U+FFFF.
 * One of them in a tag makes the whole answer unreadable for every parser.
 */
const ILLEGAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to find
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const REPLACEMENT = "\ufffd";

/** A parser turns a bare carriage return into a line feed; escaped, it survives. */
const SPECIAL: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

const NEEDS_CARE = /[^\t\n\x20-\x25\x27-\x3b\x3d\x3f-\x7e]/;

export function escapeText(text: string): string {
  if (!NEEDS_CARE.test(text)) return text;
  return text.replace(ILLEGAL, REPLACEMENT).replace(/[&<>\r]/g, (character) => SPECIAL[character]!);
}

/** An element whose text is `content`, already escaped. */
export const element = (name: string, content: string): string =>
  content === "" ? `<${name}/>` : `<${name}>${content}</${name}>`;

export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';
