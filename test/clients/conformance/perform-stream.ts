import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { performStream as performRosterStream } from '../../../services/gateway/calls/perform-stream.ts'

/** Leaves the cursor out of each message: clients of the suite do not know it, and refuse unknown fields in JSON. */
export const performStream: typeof performRosterStream = (gateway, arrival, read, write) => {
  const { output } = arrival.method.desc
  return performRosterStream(gateway, arrival, read, (bytes, signal) => {
    const message = reflect(output, fromBinary(output, bytes))
    message.clear(output.field['cursor']!)
    return write(toBinary(output, message.message), signal)
  })
}
