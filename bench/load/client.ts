import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

// Each operation has another answer.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any

/** Calls a Roster as its administrator, in JSON over one open connection. */
export interface Client {
  /** The answer. Throws for an error. `organization`: the acting one. */
  ask(verb: string, path: string, body?: object, organization?: string): Promise<Answer>
  close(): void
}

export function openClient({ urls, token }: { urls: string[]; token: string }): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    async ask(verb, path, body, organization) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const headers = {
        authorization: `Bearer ${token}`,
        'x-request-id': randomUUID(),
        'x-request-timeout': '30',
        ...(body && { 'content-type': 'application/json' }),
        ...(organization && { 'x-service-orgid': organization }),
      }
      const sent = request(urls[0] + path, { method: verb, agent, headers }, async (response) => {
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) text += chunk
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${verb} ${path}: ${text}`))
      })
      sent.on('error', reject)
      sent.end(body && JSON.stringify(body))
      return promise
    },
    close: () => agent.destroy(),
  }
}
