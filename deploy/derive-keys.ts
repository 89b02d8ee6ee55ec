import { hkdfSync } from 'node:crypto'
import { readText } from '#lib/config/read-config'
import { wrappedFor } from '#lib/encryption/subject-keys'
import { decodeKey, keyId, purposeKey } from '#lib/encryption/keys'

const storing = ['users', 'grants', 'idp', 'notifier'] as const

export type KeyHolder = (typeof storing)[number] | 'gateway' | 'operator'

/** The variables of keys in a service's environment. */
export type KeyVariables = Record<string, string>

/**
 * The keys of each service, derived from the root of an installation. No key reveals another, nor the root. A root is
 * 32 bytes in base64; to change it, give several, separated by commas, the new one first. Throws if it is no such
 * key.
 */
export function deriveKeys(root: string): Record<KeyHolder, KeyVariables> {
  const roots = readRoots(root)
  const ofService = (service: (typeof storing)[number]) => ({
    ROSTER_ENCRYPTION_KEY: [
      ...roots.map((key) => derive(key, service, 'encryption')),
      ...roots.flatMap((key) => former(key, service)),
    ].join(','),
    ROSTER_CALLER_KEY: roots.map((key) => derive(key, service, 'caller')).join(','),
  })
  return {
    // Before the services: whoever starts one may call the command.
    operator: { ROSTER_OPERATOR_PERSONAL_KEY: roots.map(personal).join(',') },
    users: ofService('users'),
    grants: ofService('grants'),
    idp: ofService('idp'),
    notifier: ofService('notifier'),
    gateway: {
      ROSTER_CALLER_KEYS: storing.map((service) => `${service}:${derive(roots[0]!, service, 'caller')}`).join(','),
    },
  }
}

function readRoots(root: string): Buffer[] {
  try {
    return root.split(',').map((text) => decodeKey(text.trim()))
  } catch (error) {
    throw new Error(`ROSTER_ENCRYPTION_KEY ${(error as Error).message}`, { cause: error })
  }
}

// The purposes for which each service used the root itself, when that was the one key of all. A service's keys for
// these open what it closed then, and nothing else.
const formerPurposes = {
  users: ['email-code', 'signing-key', 'personal', 'idempotent-request', 'idempotent-answer'],
  grants: ['idempotent-request', 'idempotent-answer'],
  idp: ['idp-client-secret', 'idempotent-request', 'idempotent-answer'],
  notifier: ['webhook-secret', 'idempotent-request', 'idempotent-answer'],
}

function derive(root: Buffer, service: string, use: 'encryption' | 'caller'): string {
  return Buffer.from(hkdfSync('sha256', root, '', `roster service ${service} ${use}`, 32)).toString('base64')
}

// The command decrypts personal fields with the key for this purpose, and has no other key of the service.
function personal(root: Buffer): string {
  const own = decodeKey(derive(root, 'users', 'encryption'))
  return [own, root]
    .map((key) => `${keyId(key)}:${wrappedFor}:${purposeKey(key, wrappedFor).toString('base64')}`)
    .join(',')
}

function former(root: Buffer, service: (typeof storing)[number]): string[] {
  return formerPurposes[service].map(
    (purpose) => `${keyId(root)}:${purpose}:${purposeKey(root, purpose).toString('base64')}`,
  )
}

/** The keys as Secrets of Kubernetes, one for each service. */
function secrets(root: string): string {
  const documents = Object.entries(deriveKeys(root)).map(([service, variables]) => [
    'apiVersion: v1',
    'kind: Secret',
    `metadata: { name: ${service}-keys, namespace: roster }`,
    'stringData:',
    ...Object.entries(variables).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
  ])
  return documents.map((lines) => `${lines.join('\n')}\n`).join('---\n')
}

if (import.meta.main) {
  try {
    const root = readText('ROSTER_ENCRYPTION_KEY')
    if (!root) throw new Error('ROSTER_ENCRYPTION_KEY is not set (nor ROSTER_ENCRYPTION_KEY_FILE)')
    process.stdout.write(secrets(root))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
