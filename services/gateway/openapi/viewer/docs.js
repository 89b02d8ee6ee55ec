/* global SwaggerUIBundle */
const dark = matchMedia('(prefers-color-scheme: dark)')
const paint = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
paint()
dark.addEventListener('change', paint)

// In the header of a service, the viewer takes each click for its own.
const unfolds = (event) => event.target.closest('.renderedMarkdown summary') && event.stopPropagation()
document.addEventListener('click', unfolds, true)

// The page keeps no token, and its policy lets it ask this gateway alone.
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
  responseInterceptor: (response) => {
    if (response.url.endsWith('/openapi.json'))
      response.text = JSON.stringify(folded(JSON.parse(response.text, olderSchema)))
    return response
  },
})

// The viewer takes five times as long for OpenAPI 3.1. This is all of it that 3.0 says in other words.
function olderSchema(key, value) {
  if (Array.isArray(value?.examples)) {
    const { examples, ...schema } = value
    return { ...schema, example: examples[0] }
  }
  if (typeof value?.const === 'string') return { type: 'string', enum: [value.const] }
  return value
}

/** The document with long texts folded. The document itself has no HTML, for its other readers. */
function folded(document) {
  document.openapi = '3.0.3'
  for (const thing of [document.info, ...document.tags]) thing.description = fold(thing.description ?? '')
  for (const path of Object.values(document.paths))
    for (const operation of Object.values(path)) {
      // The last paragraph says who may call it.
      const [, text = '', access] = /^(?:([^]*)\n\n)?([^]*)$/.exec(operation.description)
      operation.description = `${fold(text)}\n\n${escape(access)}`
    }
  return document
}

function fold(text) {
  const [, first, rest] = /^(.+?\.)\s+([^]*)$/s.exec(text) ?? []
  if (rest === undefined || rest.length < 100) return escape(text)
  return `${escape(first)}\n\n<details><summary>More</summary>\n\n${escape(rest)}\n\n</details>`
}

/** A text of proto/ is Markdown, and no HTML. Between backticks Markdown escapes by itself. */
function escape(text) {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('&', '&amp;').replaceAll('<', '&lt;')))
    .join('')
}
