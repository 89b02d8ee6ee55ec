import { connect, constants } from 'node:http2'
import { formOf, readText } from '../support/browsers/browser.ts'

/** A browser as far as the console needs one: it keeps cookies, and follows redirects to Roster. */
export function openConsoleBrowser(url: string, publicUrl: string, origin = publicUrl) {
  const jar = new Map<string, string>()
  /** The header of each cookie that was set last. */
  const set = new Map<string, string>()
  const locations: string[] = []

  async function visit(path: string, init: RequestInit = {}): Promise<{ status: number; body: string; path: string }> {
    const headers = { accept: 'text/html', cookie: cookies(), ...(init.headers as object) }
    const answer = await fetch(new URL(path, url), { redirect: 'manual', ...init, headers })
    keep(answer)
    const location = answer.headers.get('location')
    if (location === null) return { status: answer.status, body: await answer.text(), path }
    locations.push(location)
    const next = new URL(location, publicUrl)
    return next.origin === publicUrl
      ? visit(next.pathname + next.search)
      : { status: answer.status, body: '', path: location }
  }

  function keep(answer: Response): void {
    for (const header of answer.headers.getSetCookie()) {
      const [name, value] = header.split(';')[0]!.split('=') as [string, string]
      set.set(name, header)
      if (header.includes('Max-Age=0')) jar.delete(name)
      else jar.set(name, value)
    }
  }

  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ')

  /** As a page of the console sends it. */
  const own = (more: Record<string, string> = {}) => ({
    'content-type': 'application/json',
    'connect-protocol-version': '1',
    origin,
    'sec-fetch-site': 'same-origin',
    cookie: cookies(),
    ...more,
  })

  async function post(path: string, more: Record<string, string> = {}, body = '{}') {
    const answer = await fetch(url + path, { method: 'POST', headers: own(more), body })
    keep(answer)
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? {} : JSON.parse(text), headers: answer.headers }
  }

  return {
    jar,
    set,
    locations,
    cookies,
    own,
    post,
    visit,
    /** Signs in where a page asks for it, and follows the way to the end. */
    async signIn(path: string, loginName: string, password: string) {
      let shown = await visit(path)
      if (shown.body.includes('name="password"')) {
        const { action, fields } = formOf(shown.body)!
        const form = { ...fields, action: 'sign-in', login_name: loginName, password }
        shown = await visit(action, {
          method: 'POST',
          body: new URLSearchParams(form),
          headers: { origin: publicUrl, 'sec-fetch-site': 'same-origin' },
        })
      }
      const [, link] = /http-equiv="refresh" content="0;\s*(?:url=)?([^"]+)"/i.exec(shown.body) ?? []
      if (link === undefined) return shown
      const { pathname, search } = new URL(readText(link))
      return visit(pathname + search)
    },
    session: () => post('/ui/console/session'),
    call: (operation: string, session: string, request: object = {}, more: Record<string, string> = {}) =>
      post(`/roster.${operation}`, { 'roster-console-session': session, ...more }, JSON.stringify(request)),
  }
}

export type ConsoleBrowser = ReturnType<typeof openConsoleBrowser>

/** The reason of an error, of Connect or of JSON. */
export function reasonOf({ status, body }: { status: number; body: any }): string {
  // An answer may have details, too: those of its object.
  const details: any[] = status === 200 ? [] : (body.details ?? [])
  const info = details.find((detail) => JSON.stringify(detail).includes('ErrorInfo'))
  return `${status} ${info?.reason ?? info?.debug?.reason ?? ''}`.trim()
}

/** Sends a request over HTTP/2, which splits cookies, and returns its status. */
export async function statusOverHttp2(url: string, path: string, headers: Record<string, string>): Promise<number> {
  const client = connect(url)
  const { cookie = '', ...others } = headers
  const request = client.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: path,
    ...others,
    cookie: cookie.split('; '),
  })
  request.end('{}')
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  request.on('response', (answer) => resolve(Number(answer[':status']))).on('error', reject)
  try {
    return await promise
  } finally {
    request.resume()
    client.destroy()
  }
}
