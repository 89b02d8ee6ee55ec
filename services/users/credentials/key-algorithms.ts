import { KeyAlgorithm } from '#gen/roster/users/v1/credential_service'

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
