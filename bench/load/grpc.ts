import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { Line } from './http.ts'
import { type Subjects, type Workload } from './workloads.ts'

const channels = 4

/** Opens the wanted number of lines over a few HTTP/2 connections of the official client. */
export function openGrpcLines(
  count: number,
  urls: string[],
  token: string,
  workload: Workload,
  subjects: Subjects,
): Line[] {
  const { path, encode } = workload.grpc!
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  const clients = Array.from(
    { length: channels },
    (_, index) =>
      new Client(new URL(urls[index % urls.length]!).host, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
      }),
  )
  const same = (bytes: Buffer) => bytes
  return Array.from({ length: count }, (_, index) => {
    const client = clients[index % channels]!
    return {
      ask: (n) =>
        new Promise((resolve, reject) => {
          const bytes = Buffer.from(encode(subjects, n))
          client.makeUnaryRequest(path, same, same, bytes, metadata, (error) => (error ? reject(error) : resolve()))
        }),
      close: () => client.close(),
    }
  })
}
