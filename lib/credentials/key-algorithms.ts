import { KeyAlgorithm } from '#gen/roster/users/v1/credential_service'
import type { Violation } from '../errors.ts'
import { readPublicKey } from './public-key.ts'

const names = new Map<KeyAlgorithm, string>([
  [KeyAlgorithm.KEY_ALGORITHM_RS256, 'RS256'],
  [KeyAlgorithm.KEY_ALGORITHM_ES256, 'ES256'],
  [KeyAlgorithm.KEY_ALGORITHM_EDDSA, 'EdDSA'],
])

/** The name in JOSE; undefined for an unspecified algorithm. */
export function joseName(algorithm: KeyAlgorithm): string | undefined {
  return names.get(algorithm)
}

export function fromJoseName(wanted: string): KeyAlgorithm {
  const [algorithm] = [...names].find(([, name]) => name === wanted) ?? []
  return algorithm ?? KeyAlgorithm.KEY_ALGORITHM_UNSPECIFIED
}

/** What is wrong with the public key that a request brings, if it brings one. */
export function faultsOfKey(request: { publicKey?: string | undefined; algorithm: KeyAlgorithm }): Violation[] {
  const { publicKey, algorithm } = request
  // The rule on its length refuses an empty key.
  if (!publicKey) return []
  const read = readPublicKey(publicKey)
  if ('problem' in read) return [{ field: 'publicKey', description: read.problem }]
  const wanted = joseName(algorithm)
  if (wanted === undefined || wanted === read.algorithm) return []
  return [{ field: 'publicKey', description: `is a key for ${read.algorithm}, not for ${wanted}` }]
}
