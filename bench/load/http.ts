import { once } from 'node:events'
import { connect } from 'node:net'
import { type Subjects, type Workload } from './workloads.ts'

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
  const { hostname, port, host } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  let waiting: { resolve: () => void; reject: (error: Error) => void } | undefined
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
    if (answer.status === 200) resolve()
    else reject(new Error(`HTTP ${answer.status}: ${answer.body}`))
  })

  return {
    ask: (n) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        const {
          verb,
          path,
          body,
          type: contentType = 'application/json',
        } = encoding === 'json' ? workload.http(subjects, n) : connectRequest(workload, subjects, n)
        const type = body === '' ? '' : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
        const head = `${verb} ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n${type}${more()}\r\n`
        socket.write(typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body]))
      }),
    close: () => void socket.destroy(),
  }
}

function connectRequest({ grpc }: Workload, subjects: Subjects, n: number) {
  const { path, encode } = grpc!
  return { verb: 'POST', path, body: encode(subjects, n), type: 'application/proto' }
}

// Both servers announce the length of an answer.
function readAnswer(text: string): { status: number; body: string } | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
  if (length === undefined) throw new Error('an answer without a length')
  const body = text.slice(head + 4)
  if (body.length < Number(length)) return undefined
  return { status: Number(text.slice(9, 12)), body }
}
