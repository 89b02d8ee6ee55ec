import { RosterError } from '#lib/errors'
import type { Method } from '#lib/rpc/methods'
import { type Allowance, readBody, tooLarge } from '../../listen/body.ts'
import { readConnectTimeout } from '../timeout.ts'
import type { Gateway } from '../../call/gateway.ts'
import { perform } from '../../call/perform.ts'
import { protective, send } from '../../listen/answers.ts'
import { allowanceOf, arrive } from '../arrive.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { compress, inflate, mayCompress, ways } from '../compression.ts'
import { malformed } from '../json/fields.ts'
import { bodyNotAllowed } from '../json/serve.ts'
import { checkVersion } from './check-version.ts'
import { readMessage, writeMessage } from './messages.ts'
import { readQuery } from './read-query.ts'
import { sendConnectError } from './errors.ts'

/** Receives the message of a call. */
type Receive = (exchange: Exchange, allowance: Allowance) => Promise<{ isJson: boolean; message: Uint8Array }>

/** Answers a Connect call of one message and one answer. */
export async function serveUnary(gateway: Gateway, exchange: Exchange, method: Method, receive: Receive) {
  const { header, headers } = exchange
  if (method.deprecatedSince !== undefined) headers.deprecation = `@${method.deprecatedSince}`
  let isJson = false
  const answer = await perform(
    gateway,
    arrive(gateway, exchange, method, 'connect', () => readConnectTimeout(header('connect-timeout-ms'))),
    async (values) => {
      checkVersion(header('connect-protocol-version'), '1')
      const received = await receive(exchange, allowanceOf(gateway, exchange, method))
      isJson = received.isJson
      return readMessage(method, isJson, received.message, values)
    },
    (bytes, more) => {
      Object.assign(headers, more)
      return writeMessage(method, isJson, bytes)
    },
  )
  if (answer instanceof RosterError) return sendConnectError(exchange, answer)
  const may = mayCompress(method, header('accept-encoding'))
  const compressed = may ? await compress(answer, exchange.hold) : undefined
  const own = {
    ...protective,
    'content-type': isJson ? 'application/json' : 'application/proto',
    vary: `${headers['vary']}, Accept-Encoding`,
    ...(compressed && { 'content-encoding': 'gzip' }),
  }
  send(exchange, 200, own, compressed ?? answer)
}

/** Receives the message of a POST: its body. */
export function receiveBody(isJson: boolean): Receive {
  return async ({ request, header, query }, allowance) => {
    header('content-type')
    if (query !== '') throw malformed([{ field: '', description: 'has parameters in its address besides its body' }])
    const body = await readBody(request, header('content-length'), allowance)
    const compression = header('content-encoding')
    // Nothing is nothing, compressed or not.
    const isCompressed = body.length > 0 && compression !== undefined && compression !== 'identity'
    return { isJson, message: await inflate({ message: body, isCompressed }, compression, ways.connect, allowance) }
  }
}

/** Receives the message of a GET: it is in the query. */
export const receiveQuery: Receive = async ({ request, header, query }, allowance) => {
  const body = await readBody(request, header('content-length'), allowance)
  if (body.length > 0) throw bodyNotAllowed()
  const { isJson, compression, message } = readQuery(query)
  if (message.length > allowance.bytes) throw tooLarge(allowance.bytes)
  const isCompressed = compression !== undefined && compression !== 'identity'
  return { isJson, message: await inflate({ message, isCompressed }, compression, ways.connect, allowance) }
}
