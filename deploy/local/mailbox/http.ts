import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { mailboxPage } from './page.ts'
import { isTo, type Mail, type MailStore } from './store.ts'

/**
 * Answers Mailpit's `/api/v1/messages`, `/message/{ID}`, `/search`, `/view/{ID}.txt|html`, where the ID may be
 * `latest` with a `?query=`, and a readable page at `/`.
 */
export function mailboxPages(mails: MailStore): RequestListener {
  return (request, response) => {
    answer(mails, request, response).catch(() => send(response, 500, 'text/plain', 'The mailbox failed.'))
  }
}

async function answer(mails: MailStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A web page elsewhere must not reach the mails by pointing its own name at 127.0.0.1.
  const host = (request.headers.host ?? '').replace(/:\d+$/, '')
  if (!/^(localhost|127\.0\.0\.1|\[::1\]|mailbox|mailpit)$/.test(host))
    return send(response, 421, 'text/plain', 'Unknown host.')
  const url = new URL(request.url ?? '/', 'http://mailbox')
  const path = decodeURIComponent(url.pathname)
  const view = /^\/view\/(.+)\.(txt|html)$/.exec(path)
  const message = /^\/api\/v1\/message\/(.+)$/.exec(path)
  if (request.method === 'DELETE' && path === '/api/v1/messages') {
    await mails.clear()
    return send(response, 200, 'text/plain', 'ok')
  }
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return send(response, 405, 'text/plain', 'Method not allowed.')
  if (path === '/') return send(response, 200, 'text/html', mailboxPage(mails.list(), url.searchParams.get('id')))
  if (path === '/readyz' || path === '/livez') return send(response, 200, 'text/plain', 'ok')
  if (path === '/api/v1/messages') return send(response, 200, 'application/json', page(mails.list(), mails.list(), url))
  if (path === '/api/v1/search')
    return send(response, 200, 'application/json', page(search(mails.list(), url), mails.list(), url))
  if (message) return found(response, mails.find(message[1]!), (mail) => ['application/json', JSON.stringify(mail)])
  if (view) {
    const mail = view[1] === 'latest' ? search(mails.list(), url)[0] : mails.find(view[1]!)
    return found(response, mail, (mail) => (view[2] === 'txt' ? ['text/plain', mail.Text] : ['text/html', mail.HTML]))
  }
  send(response, 404, 'text/plain', 'Not found.')
}

function search(mails: readonly Mail[], url: URL): readonly Mail[] {
  const terms = (url.searchParams.get('query') ?? '').split(/\s+/).filter(Boolean)
  return mails.filter((mail) =>
    terms.every((term) => {
      const to = /^to:"?([^"]*)"?$/i.exec(term)?.[1]
      if (to !== undefined) return isTo(mail, to)
      return `${mail.Subject}\n${mail.Text}`.toLowerCase().includes(term.toLowerCase())
    }),
  )
}

function page(mails: readonly Mail[], all: readonly Mail[], url: URL): string {
  const start = Number(url.searchParams.get('start') ?? 0) || 0
  const limit = Number(url.searchParams.get('limit') ?? 50) || 50
  const messages = mails
    .slice(start, start + limit)
    .map((mail) => ({ ...mail, Text: undefined, HTML: undefined, Headers: undefined }))
  return JSON.stringify({ total: all.length, messages_count: mails.length, count: messages.length, start, messages })
}

function found(response: ServerResponse, mail: Mail | undefined, show: (mail: Mail) => [string, string]): void {
  if (!mail) return send(response, 404, 'text/plain', 'No such message.')
  send(response, 200, ...show(mail))
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // The mails are strangers' HTML: no script of theirs may run with the mailbox' rights.
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; img-src data: cid:; frame-src 'self'; sandbox allow-popups allow-same-origin",
  })
  response.end(body)
}
