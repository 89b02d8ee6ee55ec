import { get as http } from 'node:http'
import { get as https } from 'node:https'
import { text } from 'node:stream/consumers'

/** Asks the gateway on this port of this machine, with TLS or without, whether it is ready. */
export async function askReadiness(port: number | string, tls: boolean): Promise<{ status: number; report: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; report: string }>()
  // The certificate names another host than this one.
  const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(4000) }
  const [get, scheme] = tls ? [https, 'https'] : [http, 'http']
  get(`${scheme}://127.0.0.1:${port}/readyz`, options, (answer) => {
    text(answer).then((report) => resolve({ status: answer.statusCode!, report }), reject)
  }).on('error', reject)
  return promise
}
