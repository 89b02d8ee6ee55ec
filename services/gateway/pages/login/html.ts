const markup = Symbol('markup')

/** Markup. Only `html` and `markupOf` make it, so no other text gets into a page unescaped. */
export interface Html {
  [markup]: string
}

export type Part = Html | string | number | false | undefined | Part[]

/** A template of HTML. It escapes each value that is not markup itself, for text and for attributes in quotes. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return markupOf(texts.reduce((before, text, at) => before + render(parts[at - 1]) + text))
}

/** Takes a text as it is: only for what the gateway brings along, such as its style sheet. */
export function markupOf(text: string): Html {
  return { [markup]: text }
}

export function toText(page: Html): string {
  return page[markup]
}

/** Puts values in the place of `{name}` in a text. */
export function fill(text: string, values: Record<string, Part>): Html {
  return html`${text.split(/\{(\w+)\}/).map((part, at) => (at % 2 === 0 ? part : values[part]))}`
}

function render(part: Part): string {
  if (Array.isArray(part)) return part.map(render).join('')
  if (typeof part === 'object') return part[markup]
  return part === undefined || part === false ? '' : escape(String(part))
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character]!)
}
