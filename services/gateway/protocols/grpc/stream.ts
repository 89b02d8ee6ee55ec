import type { Arrival } from '../../call/arrived-call.ts'
import type { Gateway } from '../../call/gateway.ts'
import { performStream } from '../../call/perform-stream.ts'
import { frameAnswer, mayCompress } from '../compression.ts'
import { writeOut } from '../write-out.ts'
import { readCall } from './read.ts'
import { begin, type Call, end } from './write.ts'

export async function serveStream(gateway: Gateway, call: Call, arrival: Arrival): Promise<void> {
  const { method } = arrival
  const may = mayCompress(method, call.header('grpc-accept-encoding'))
  const error = await performStream(
    gateway,
    arrival,
    (allowance, values) => readCall(call, method, allowance, values),
    {
      begin: () => begin(call, may),
      async write(message, signal) {
        await writeOut(call.stream, await frameAnswer(message, may, call.hold), signal)
      },
    },
  )
  end(call, error)
}
