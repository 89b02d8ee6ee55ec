import { RosterError } from './errors.ts'
import { counter } from './telemetry/instruments.ts'

const ofGateway = [
  'caller',
  'organization',
  'address',
  'streams.caller',
  'streams.organization',
  'bytes',
  'connections',
  'resets',
]

// The `limit` of LIMIT_REACHED and of MAILS_THROTTLED, or the reason itself.
const ofServices = [
  'project.roles',
  'project.applications',
  'application.keys',
  'application.secrets',
  'project_grant.role_keys',
  'user_grant.role_keys',
  'event.bytes',
  'aggregate.characters',
  'organization.webhooks',
  'MEMBERSHIP_LIMIT_REACHED',
  'mails.address',
  'mails.organization',
  'mails.notices',
  'password_resets',
  'sign_in_codes',
  'sign_in_mails',
  'provider_sign_ins',
  'answers_at_once',
  'registrations',
  'invitations',
  'organization.invitations',
  'organization.domains',
  'CODE_THROTTLED',
  'EMAIL_CHANGES_THROTTLED',
  'SIGN_IN_THROTTLED',
  'FACTOR_THROTTLED',
  'PASSKEYS_FULL',
  'IDP_LINKS_FULL',
  'IDP_INTENTS_FULL',
  'CLIENT_THROTTLED',
  'REFRESH_THROTTLED',
  'KEYS_THROTTLED',
  'PASSWORDS_THROTTLED',
  'LOGOS_THROTTLED',
  'TEST_MAILS_THROTTLED',
  'IDP_TESTS_THROTTLED',
  'DOMAIN_CHECKS_THROTTLED',
  'LOGOUT_THROTTLED',
  'STORE_OVERLOADED',
  'SEARCH_TOO_LONG',
  'ANSWER_TOO_LARGE',
] as const

/** Whatever a limit refused. */
export const limitsHit = counter({
  name: 'roster.limit.hits',
  unit: '{request}',
  description:
    'requests that a limit refused, items of bulks, mails that were dropped without an error, and connections (closed). ' +
    'In capitals: the reason of the error',
  labels: { 'roster.limit': [...ofGateway, ...ofServices] },
})

const reasons = new Set<string>(ofServices)

/** Counts an error of a service where it is about a limit. */
export function countLimit(error: unknown): void {
  const limit = error instanceof RosterError && limitOf(error)
  if (limit) limitsHit.add(1, limit)
}

/** The name of the limit that an error of a service is about, if it is about one. */
export function limitOf({ reason, metadata }: RosterError): string | undefined {
  if (reason === 'LIMIT_REACHED') return metadata['limit']
  if (reason === 'MAILS_THROTTLED') return `mails.${metadata['limit'] ?? 'notices'}`
  return reasons.has(reason) ? reason : undefined
}
