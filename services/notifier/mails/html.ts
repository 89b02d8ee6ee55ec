const page = 'margin: 0; padding: 24px; font-size: 16px; line-height: 1.5; font-family: system-ui, -apple-system, '
const fonts = "'Segoe UI', Roboto, Arial, sans-serif"
const code =
  'font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 28px; font-weight: bold; letter-spacing: 4px'

/** By which the HTML of a mail shows its logo (RFC 2392). */
export const logoId = 'logo@roster'

/** Where the brand of a mail is put in. No text of a mail has one of these, since `<` is escaped in it. */
export const brandPlaces = { button: '<button-colours>', logo: '<brand-logo>', foot: '<brand-foot>' }

const buttonStyle =
  `display: inline-block; padding: 12px 20px; border-radius: 6px; ${brandPlaces.button}; ` +
  'font-weight: bold; text-decoration: none'

/** What a translator wrote. */
interface Written {
  language: string
  subject: string
  button: string
  text: string
}

/** Makes the HTML template of a mail from its text template. A code and a link, each a paragraph of its own, stand out. */
export function toHtml({ language, subject, button, text }: Written): string {
  const paragraphs = escaped(text)
    .trim()
    .split(/(?:\r?\n){2,}/)
    .map((paragraph) => toParagraph(paragraph.trim(), escaped(button)))
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>${escaped(subject)}</title>
</head>
<body style="${page}${fonts}">
<div style="max-width: 560px; margin: 0 auto">
${brandPlaces.logo}${paragraphs.join('\n').replace('{{host}}', '<strong>{{host}}</strong>')}
${brandPlaces.foot}</div>
</body>
</html>
`
}

function toParagraph(text: string, button: string): string {
  if (text === '{{code}}') return `<p style="${code}">{{code}}</p>`
  if (text !== '{{url}}') return `<p>${text}</p>`
  return `<p><a href="{{url}}" style="${buttonStyle}">${button}</a></p>\n<p><a href="{{url}}" style="word-break: break-all">{{url}}</a></p>`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (symbol) => entities[symbol]!)
}
