import { toBinary } from '@bufbuild/protobuf'
import type { Method } from '#lib/rpc/methods'
import type { Allowance } from '../../listen/admission.ts'
import { readBody, tooLarge } from '../../listen/body.ts'
import type { Exchange } from '../../listen/exchange.ts'
import { limitValues, type ValueLimit } from '../../rate-limits/value-limit.ts'
import { inflate, compressions } from '../compression.ts'
import { readFrame } from '../frames.ts'
import { bodyNotAllowed, malformed } from '../json/errors.ts'
import { readRequest } from '../json/read.ts'
import { checkVersion, readQuery } from './query.ts'

export type Receive = (exchange: Exchange, allowance: Allowance) => Promise<{ isJson: boolean; message: Uint8Array }>

/** Receives the message of a POST: its body. */
export function receiveBody(isJson: boolean): Receive {
  return async ({ request, header, query }, allowance) => {
    header('content-type')
    if (query !== '') throw malformed([{ field: '', description: 'has parameters in its address besides its body' }])
    const body = await readBody(request, header('content-length'), allowance)
    const compression = header('content-encoding')
    // Nothing is nothing, compressed or not.
    const isCompressed = body.length > 0 && compression !== undefined && compression !== 'identity'
    return {
      isJson,
      message: await inflate({ message: body, isCompressed }, compression, compressions.connect, allowance),
    }
  }
}

/** Receives the message of a GET: it is in the query. */
export const receiveQuery: Receive = async ({ request, header, query }, allowance) => {
  const body = await readBody(request, header('content-length'), allowance)
  if (body.length > 0) throw bodyNotAllowed()
  const { isJson, compression, message } = readQuery(query)
  if (message.length > allowance.bytes) throw tooLarge(allowance.bytes)
  const isCompressed = compression !== undefined && compression !== 'identity'
  return { isJson, message: await inflate({ message, isCompressed }, compression, compressions.connect, allowance) }
}

/** Receives the message of a call that is answered with a stream: it is in a frame. */
export function receiveFrame(isJson: boolean): Receive {
  return async ({ request, header }, allowance) => {
    header('content-type')
    const body = await readBody(request, header('content-length'), allowance, allowance.bytes + 5)
    const framed = readFrame(body, allowance.bytes)
    return {
      isJson,
      message: await inflate(framed, header('connect-content-encoding'), compressions.connect, allowance),
    }
  }
}

/**
 * Reads the request message of a call, in bytes. JSON is read as at the HTTP path of the method: see `readRequest`.
 */
export async function readCall(
  exchange: Exchange,
  method: Method,
  receive: Receive,
  allowance: Allowance,
  values: ValueLimit,
): Promise<{ isJson: boolean; request: Uint8Array }> {
  checkVersion(exchange.header('connect-protocol-version'), '1')
  const { isJson, message } = await receive(exchange, allowance)
  const { input } = method.desc
  if (!isJson) return { isJson, request: limitValues(input, message, values) }
  return { isJson, request: toBinary(input, readRequest({ method, variables: [] }, '', message, values)) }
}
