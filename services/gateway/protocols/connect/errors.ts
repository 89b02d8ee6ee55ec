import { codes, type RosterError } from '#lib/errors'
import { statusToJson, toStatus } from '#lib/status'
import { type Exchange, protective, send } from '../../listen/exchange.ts'
import { statusOfCode } from '../../listen/http-status.ts'
import { compressions } from '../compression.ts'
import { errorHeaders } from '../error-headers.ts'

const names = new Map<number, string>(
  Object.entries(codes).map(([name, code]) => [code, code === codes.CANCELLED ? 'canceled' : name.toLowerCase()]),
)

/** The error in Connect's JSON. Its details are those of the Status, each in bytes and as people can read it. */
export function toConnectError(error: RosterError): object {
  const { code, message, details } = toStatus(error)
  const readable = statusToJson(error).details
  return {
    code: names.get(code),
    message,
    details: details.map(({ typeUrl, value }, index) => {
      const { '@type': _, ...debug } = readable[index]!
      return {
        type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1),
        value: Buffer.from(value).toString('base64').replace(/=+$/, ''),
        debug,
      }
    }),
  }
}

/** Answers a call of one message with the error. Connect knows no status of a call but that of the code. */
export function sendConnectError(
  exchange: Exchange,
  error: RosterError,
  status = statusOfCode[error.code],
  own: Record<string, string> = {},
): void {
  const known = error.reason === 'COMPRESSION_UNSUPPORTED' && { 'accept-encoding': compressions.connect.join() }
  const headers = { ...protective, 'content-type': 'application/json', ...errorHeaders(error), ...known, ...own }
  send(exchange, status, headers, JSON.stringify(toConnectError(error)))
}
