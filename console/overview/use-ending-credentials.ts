import { useMay, useRead } from '../api/queries.ts'
import { useNames } from '../history/use-names.ts'
import { language } from '../texts/texts.ts'
import type { Need, Needs } from './need.ts'
import { words } from './words.ts'

const most = 5

/** Secrets and keys of applications that end within thirty days. */
export function useEndingSecrets(): Needs {
  const mayRead = useMay('project.app.read')
  const method = 'roster.grants.v1.ApplicationService/ListEndingApplicationCredentials'
  const { data, error } = useRead(method, {}, { enabled: mayRead === true })
  const needs = data?.credentials?.map(({ appId = '', name = '', type, credentialId, expirationDate = '' }) => ({
    key: `credential ${credentialId}`,
    text: words.ends(type === 'APPLICATION_CREDENTIAL_TYPE_KEY' ? 'key' : 'secret', name, inDays(expirationDate)),
    path: `/applications/${encodeURIComponent(appId)}/secrets`,
  }))
  return { mayRead, needs: data && shorten(needs ?? [], '/applications'), error }
}

/** Keys, secrets and tokens of machines that end within thirty days. */
export function useEndingMachineCredentials(): Needs {
  const mayRead = useMay('user.credential.read')
  const method = 'roster.users.v1.CredentialService/ListEndingCredentials'
  const { data, error } = useRead(method, {}, { enabled: mayRead === true })
  const credentials = data?.credentials ?? []
  const nameOf = useNames(credentials.slice(0, most).map(({ userId }) => userId))
  const needs = credentials.map(({ userId = '', type, credentialId, expirationDate = '' }) => ({
    key: `credential ${credentialId}`,
    text: words.ends(kinds[type ?? ''] ?? 'secret', nameOf(userId), inDays(expirationDate)),
    path: `/machines/${encodeURIComponent(userId)}`,
  }))
  return { mayRead, needs: data && shorten(needs, '/machines'), error }
}

const kinds: Record<string, 'key' | 'secret' | 'token'> = {
  MACHINE_CREDENTIAL_TYPE_KEY: 'key',
  MACHINE_CREDENTIAL_TYPE_PERSONAL_ACCESS_TOKEN: 'token',
}

// The soonest come first.
function shorten(needs: Need[], path: string): Need[] {
  if (needs.length <= most) return needs
  return [...needs.slice(0, most), { key: `more ${path}`, text: words.moreEnd, path }]
}

function inDays(at: string): string {
  const days = Math.floor((Date.parse(at) - Date.now()) / 86_400_000)
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(days, 'day')
}
