import { inject } from 'vitest'
import type { Answer, Call } from './call.ts'
import { decode, decodeStatus, describeOperation, encode, grpcPath } from './messages.ts'

/** `application/grpc-web-text`, frame by frame and by hand, which also checks the wire format. */
export const callGrpcWebText: Call = async (operation, request = {}, { token, organization, headers, url } = {}) => {
  const { input, output } = describeOperation(operation)
  const response = await fetch((url ?? inject('roster').url) + grpcPath(operation), {
    method: 'POST',
    headers: {
      'content-type': 'application/grpc-web-text',
      accept: 'application/grpc-web-text',
      'x-grpc-web': '1',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(organization !== undefined && { 'x-service-orgid': organization }),
      ...headers,
    },
    body: Buffer.from(frame(encode(input, request))).toString('base64'),
  })
  const frames = readFrames(Buffer.from(await response.text(), 'base64'))
  const trailers = readTrailers(frames)
  const answer = { http: response.status, headers: { ...Object.fromEntries(response.headers), ...trailers } }
  if (trailers['grpc-status'] === '0') return { ...answer, ok: decode(output, messageOf(frames)), error: undefined }
  return { ...answer, ok: undefined, error: readError(trailers) }
}

/** A message in its frame: five bytes and the payload. */
export function frame(payload: Uint8Array, flag = 0): Uint8Array {
  const head = Buffer.alloc(5)
  head[0] = flag
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

interface Frame {
  flag: number
  payload: Buffer
}

export function readFrames(body: Buffer): Frame[] {
  const frames: Frame[] = []
  for (let offset = 0; offset < body.length;) {
    const end = offset + 5 + body.readUInt32BE(offset + 1)
    if (end > body.length) throw new Error('a frame is longer than the body')
    frames.push({ flag: body[offset]!, payload: body.subarray(offset + 5, end) })
    offset = end
  }
  return frames
}

/** The trailers of an answer. They are its last frame and must not be empty. */
export function readTrailers(frames: Frame[]): Record<string, string> {
  const last = frames.at(-1)
  if (last?.flag !== 0x80 || last.payload.length === 0) throw new Error('the answer does not end with trailers')
  const lines = last.payload.toString('latin1').split('\r\n').filter(Boolean)
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}

function messageOf(frames: Frame[]): Buffer {
  if (frames.length !== 2 || frames[0]!.flag !== 0) throw new Error('the answer is not one message and its trailers')
  return frames[0]!.payload
}

/** The Status of an error. */
export function readError(trailers: Record<string, string>): Answer['error'] {
  const bytes = trailers['grpc-status-details-bin']
  if (!bytes) throw new Error(`an error without details: ${JSON.stringify(trailers)}`)
  const status = decodeStatus(Buffer.from(bytes, 'base64'))
  const [code, message] = [trailers['grpc-status'], decodeURIComponent(trailers['grpc-message'] ?? '')]
  if (String(status.code) !== code || status.message !== message)
    throw new Error(`the trailers say ${code} ${message}, the Status ${JSON.stringify(status)}`)
  return status
}
