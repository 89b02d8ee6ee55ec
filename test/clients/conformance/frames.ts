import { frame as rosterFrame } from '../../../services/gateway/protocols/frames.ts'
import { asRecord, suiteCall } from './suite-call.ts'

export * from '../../../services/gateway/protocols/frames.ts'

/** Adds the suite's trailers where a body ends with them: in gRPC-web, and in a stream of Connect. */
export const frame: typeof rosterFrame = (flag, payload) => {
  const trailers = suiteCall().responseTrailers
  if (flag === 0x80) {
    const lines = trailers.flatMap(({ name, value }) => value.map((one) => `${name.toLowerCase()}:${one}\r\n`))
    return rosterFrame(flag, Buffer.concat([payload, Buffer.from(lines.join(''))]))
  }
  if (flag !== 2) return rosterFrame(flag, payload)
  const { error, metadata } = JSON.parse(Buffer.from(payload).toString())
  const last = { ...(error.code !== undefined && { error }), metadata: { ...metadata, ...asRecord(trailers) } }
  return rosterFrame(flag, Buffer.from(JSON.stringify(last)))
}
