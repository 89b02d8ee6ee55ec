import { type Payloads, testPayloads } from '#test/support/event-payloads'
import type { evolve } from './vocabulary.ts'

type EventOf<Type extends keyof typeof evolve> = Parameters<(typeof evolve)[Type]>[1]

const payloads: { [Type in keyof typeof evolve]: Payloads<EventOf<Type>> } = {
  organization: {
    added: { name: 'ACME', primaryDomain: 'acme.example.com' },
    changed: { name: 'ACME Europe' },
    'domain.changed': { primaryDomain: 'acme-europe.example.com' },
    deactivated: {},
    reactivated: {},
    removed: {},
  },
  member: { added: { userId: 'u', roles: ['ORG_OWNER'] }, removed: { userId: 'u' } },
  project: { added: { name: 'P' }, 'role.added': { roleKey: 'reader', displayName: 'Reader', group: 'all' } },
  project_grant: { added: { projectId: 'p', grantedOrganizationId: 'o', roleKeys: ['reader'] } },
  user_grant: {
    added: { userId: 'u', projectId: 'p', projectGrantId: 'g', roleKeys: ['reader'] },
    removed: { userId: 'u' },
  },
  removed_user: { noted: {} },
}

testPayloads('grants', payloads)
