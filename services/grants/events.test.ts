import { type Payloads, testPayloads } from '#test/support/event-payloads'
import type { evolve } from './vocabulary/evolve.ts'

type EventOf<Type extends keyof typeof evolve> = Parameters<(typeof evolve)[Type]>[1]

const payloads: { [Type in keyof typeof evolve]: Payloads<EventOf<Type>> } = {
  organization: {
    added: { name: 'ACME', primaryDomain: 'acme.example.com' },
    changed: { name: 'ACME' },
    'domain.changed': { primaryDomain: 'acme.example.com' },
    deactivated: {},
    reactivated: {},
    removed: {},
  },
  member: {
    added: { userId: 'u', roles: ['ORG_OWNER'], projectId: 'p' },
    changed: { userId: 'u', roles: ['ORG_OWNER'] },
    removed: { userId: 'u' },
  },
  project: {
    added: { name: 'P' },
    changed: { name: 'P' },
    'role.added': { roleKey: 'reader', displayName: 'Reader', group: 'all' },
    'role.changed': { roleKey: 'reader', displayName: 'Reader', group: 'all' },
    'role.removed': { roleKey: 'reader' },
    deactivated: {},
    reactivated: {},
    removed: {},
  },
  project_grant: {
    added: { projectId: 'p', grantedOrganizationId: 'o', roleKeys: ['reader'] },
    changed: { roleKeys: ['reader'] },
    deactivated: {},
    reactivated: {},
    removed: {},
  },
  user_grant: {
    added: { userId: 'u', projectId: 'p', projectGrantId: 'g', roleKeys: ['reader'] },
    changed: { roleKeys: ['reader'] },
    deactivated: {},
    reactivated: {},
    removed: { userId: 'u' },
  },
  removed_user: { noted: {} },
}

testPayloads('grants', payloads)
