import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { isStrict } from '#lib/audit-log/checkpoint'
import { receiptType } from '../../services/users/openid/tokens/keys/sign-now.ts'
import type { Called, Command } from '../command.ts'
import { textOf } from '../read-files.ts'
import { Refusal } from '../refusal.ts'

export const receipt: Command = {
  name: 'receipt',
  takes: 'FILE KEYS',
  summary: 'Verifies the receipt for the removal of a user, without any server.',
  more: [
    'FILE has the `receipt` of the answer of DeleteUser. KEYS is a file with the answer of /oauth/v2/keys of that day.',
    'Exit status 1 where no key of these made the receipt.',
  ],
  arguments: [2, 2],
  isOffline: () => true,
  run,
}

async function run({ output, args }: Called): Promise<number> {
  const [text, keys] = args.map(textOf) as [string, string]
  const content = await verifyReceipt(text, keys)
  if (output.isJson) await output.json({ verified: content !== undefined, ...content })
  else if (content) for (const line of JSON.stringify(content, undefined, 2).split('\n')) output.line(line)
  else output.line('! No key of these made this receipt.')
  return content ? 0 : 1
}

/**
 * What a receipt says; undefined where no key of these made it. `keys`: the text of an answer of /oauth/v2/keys. Throws
 * a Refusal where it is none.
 */
export async function verifyReceipt(text: string, keys: string): Promise<object | undefined> {
  const known = readKeys(keys)
  const jws = text.trim()
  if (!isStrict(jws)) return undefined
  try {
    const { payload, protectedHeader } = await compactVerify(jws, known)
    return protectedHeader.typ === receiptType ? (JSON.parse(Buffer.from(payload).toString()) as object) : undefined
  } catch {
    return undefined
  }
}

function readKeys(text: string): ReturnType<typeof createLocalJWKSet> {
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
  } catch {
    throw new Refusal('The second file has no list of keys.')
  }
}
