import { appendFileSync } from 'node:fs'
import type { JsonObject } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import type { Call } from './call.ts'
import { callGrpc } from './grpc.ts'
import { callGrpcWebText } from './grpc-web-text.ts'
import { callGrpcWeb } from './grpc-web.ts'
import { callJson } from './json.ts'

/** Every encoding by its name, for `describe.each`. */
export const encodings = [
  { encoding: 'json', call: recording(callJson) },
  { encoding: 'grpc', call: recording(callGrpc) },
  { encoding: 'grpc-web', call: recording(callGrpcWeb) },
  { encoding: 'grpc-web-text', call: recording(callGrpcWebText) },
] as const

/** For what does not depend on the encoding. */
export const call: Call = encodings[0].call

/** Notes a secret, so that the last test can look for it everywhere. */
export function recordSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret.length >= 6) appendFileSync(inject('roster').secretsFile, `${secret}\n`)
}

function recording(plain: Call): Call {
  return async (operation, request, options) => {
    const answer = await plain(operation, request, options)
    const ok = (answer.ok ?? {}) as JsonObject
    // A password that was refused is a caller's slip of the keyboard: no less a secret.
    const { password, clientSecret } = request ?? {}
    for (const secret of [
      password,
      clientSecret,
      ok['verificationCode'],
      ok['emailCode'],
      ok['sessionToken'],
      ok['secret'],
    ])
      recordSecret(secret)
    return answer
  }
}
