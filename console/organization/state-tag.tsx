import type { GrantsOrganization } from '#gen/console/api'
import { words } from './words.ts'

export function StateTag({ organization: { state } }: { organization: GrantsOrganization }) {
  const isActive = state === 'ORGANIZATION_STATE_ACTIVE'
  return <span class={`tag ${isActive ? 'good' : 'warn'}`}>{isActive ? words.active : words.inactive}</span>
}
