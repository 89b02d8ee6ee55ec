import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { performStream as performRosterStream } from '../../../services/gateway/call/perform-stream.ts'
import { readRequest } from './call.ts'

/**
 * Notes which headers the request asks for: they leave before the first answer. Leaves the cursor out of each message:
 * the suite does not know it, and refuses unknown fields in JSON.
 */
export const performStream: typeof performRosterStream = (gateway, arrival, read, answer) => {
  const { input, output } = arrival.method.desc
  return performRosterStream(
    gateway,
    arrival,
    async (allowance, values) => {
      const bytes = await read(allowance, values)
      readRequest(input, bytes)
      return bytes
    },
    {
      ...answer,
      write(bytes, signal) {
        const message = reflect(output, fromBinary(output, bytes))
        message.clear(output.field['cursor']!)
        return answer.write(toBinary(output, message.message), signal)
      },
    },
  )
}
