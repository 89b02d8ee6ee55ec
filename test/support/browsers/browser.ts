/** A page, or where a browser is sent away from Roster. */
export interface Shown {
  status: number
  location: string
  body: string
}

/**
 * A browser as far as pages without script need one: it keeps a cookie, and follows redirects to Roster. `always`: the
 * headers of each request.
 */
export function openBrowserAt(url: string, cookie = '', always: Record<string, string> = {}) {
  let setCookie = ''
  return { visit, submit, cookie: () => cookie, setCookie: () => setCookie }

  async function visit(path: string, init: RequestInit = {}): Promise<Shown> {
    const headers = { ...always, ...(cookie && { cookie }), ...(init.headers as object) }
    const answer = await fetch(new URL(path, url), { redirect: 'manual', ...init, headers })
    const [set] = answer.headers.getSetCookie()
    if (set) [setCookie, cookie] = [set, set.split(';')[0]!]
    const location = answer.headers.get('location')
    if (location?.startsWith('/')) return visit(location)
    return { status: answer.status, location: location ?? '', body: await answer.text() }
  }

  /** Sends the first form of a page, or that of a path. */
  function submit({ body }: Shown, filled: Record<string, string>, path?: string): Promise<Shown> {
    const { action, fields } = formOf(body, path)!
    const form = new URLSearchParams({ ...fields, ...filled })
    return visit(action, { method: 'POST', body: form, headers: { origin: url, 'sec-fetch-site': 'same-origin' } })
  }
}

/**
 * The first form of a page, or that of a path: its fields as they are, the attributes of its inputs, and of the button
 * that Enter presses.
 */
export function formOf(body: string, path = '[^"]+') {
  const found = new RegExp(`<form method="post" action="(${path})">(.*?)</form>`, 's').exec(body)
  if (!found) return undefined
  const [, action, content] = found
  const [inputs, buttons] = ['input', 'button'].map((tag) =>
    [...content!.matchAll(new RegExp(`<${tag}\\b([^>]*)>`, 'g'))].map(([, attributes]) => attributesOf(attributes!)),
  )
  // A box that is not ticked is not sent.
  const sent = inputs!.filter(({ type, checked }) => type !== 'checkbox' || checked !== undefined)
  const fields = Object.fromEntries(sent.map(({ name = '', value = '' }) => [name, value]))
  const button = buttons!.find(({ type }) => type !== 'button') ?? {}
  return { action: readText(action!), fields, inputs: inputs!, button }
}

// One without a value is empty.
function attributesOf(text: string): Record<string, string> {
  const found = text.matchAll(/([\w-]+)(?:="([^"]*)")?/g)
  return Object.fromEntries([...found].map(([, name, value = '']) => [name, readText(value)]))
}

/** The text that HTML stands for. */
export function readText(html: string): string {
  const letters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return html.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => letters[name]!)
}
