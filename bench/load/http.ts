import { once } from 'node:events'
import { connect } from 'node:net'
import { type Answer, publicUrlOf } from './people.ts'
import type { HttpRequest, Subjects, Workload } from './workloads.ts'

/** Sends the n-th request and resolves with its answer. Rejects unless it succeeds. */
export type Ask = (n: number) => Promise<void>

export interface Line {
  ask: Ask
  close(): void
}

/**
 * One HTTP/1.1 connection that stays open, for JSON or for Connect in protobuf, written by hand, because the generator
 * must cost less than the measured system. `more` gives further lines of a head.
 */
export async function openHttpLine(
  url: string,
  token: string,
  encoding: 'json' | 'connect',
  workload: Workload,
  subjects: Subjects,
  more: () => string = () => '',
): Promise<Line> {
  const { hostname, port } = new URL(url)
  const { host } = new URL(publicUrlOf(url))
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  let received = ''

  const fail = (error: Error) => {
    waiting?.reject(error)
    waiting = undefined
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    const answer = readAnswer(received)
    if (!answer) return
    received = ''
    const { resolve, reject } = waiting!
    waiting = undefined
    if (answer.status < 400) resolve(answer)
    else reject(new Error(`HTTP ${answer.status}: ${answer.body}`))
  })

  return {
    async ask(n) {
      let next: HttpRequest | void =
        encoding === 'json' ? workload.http(subjects, n) : connectRequest(workload, subjects, n)
      while (next) {
        const answer: Answer = await exchange(next)
        next = next.take?.(answer)
      }
    },
    close: () => void socket.destroy(),
  }

  function exchange({ verb, path, body, headers }: HttpRequest): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    waiting = { resolve, reject }
    const all = {
      authorization: `Bearer ${token}`,
      ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...headers,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    const head = `${verb} ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}${more()}\r\n`
    socket.write(typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body]))
    return promise
  }
}

function connectRequest({ grpc }: Workload, subjects: Subjects, n: number): HttpRequest {
  const { path, encode } = grpc!
  return { verb: 'POST', path, body: encode(subjects, n), headers: { 'content-type': 'application/proto' } }
}

// Both servers announce the length of an answer.
function readAnswer(text: string): (Answer & { status: number }) | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error('an answer without a length')
  const body = text.slice(head + 4)
  if (body.length < Number(length)) return undefined
  const of = (name: string) => new RegExp(`\\r\\n${name}: *([^\\r]+)`, 'i').exec(text.slice(0, head))?.[1] ?? ''
  const cookie = of('set-cookie').split(';')[0] || undefined
  return { status: Number(text.slice(9, 12)), location: of('location'), body, cookie }
}
