import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Copied, InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import { testServers } from '#test/support/servers'
import { RosterError } from '#lib/errors'
import { openDatabase } from '#lib/database/database'
import { migrate } from '#lib/schema/migrate'
import { openPersonal } from '#lib/encryption/personal'
import { createStore } from '#lib/eventstore/store'
import type { Service } from '#lib/process'
import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats/connect-nats'
import { createClient } from '#lib/rpc/call'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { serve, served } from '#lib/rpc/serve'
import { testCallerKeys, testReader } from '#test/support/caller-keys'
import { readUsersConfig } from '../config.ts'
import type { Context, FailureCounts } from '../context.ts'
import { openFailureCounts } from '../directory/passwords/failure-counts.ts'
import { openPasswordHashes } from '../directory/passwords/stored-hashes.ts'
import { openArrivals } from '../openid/arrivals/arrivals.ts'
import { openSecretUses } from '../openid/clients/secret-uses.ts'
import { openCredentialUses } from '../directory/machine-credentials/credential-uses.ts'
import { openAfterResponse } from '../after-response.ts'
import { openIdTokenKeys } from '../openid/tokens/keys/id-token-keys.ts'
import { openSigningKeys } from '../openid/tokens/keys/signing-keys.ts'
import { model } from '../model.ts'
import { internalCalls } from '../../internal-calls.ts'
import { lockAfterWrong } from '../sessions/login-policy/lockout.ts'
import { createSession } from '../sessions/operations/session/create-session.ts'

const silent = createLog('test', 'silent')
const encryptionKey = randomBytes(32).toString('base64')

export interface TestUsers extends Context {
  tokenFile: string
  failureCounts: FailureCounts & Service
  stop(): Promise<void>
}

/** A replica of users that answers no calls; replicas may share a database. `settings` are as in the environment. */
export async function openUsers(databaseUrl: string, settings: Record<string, string> = {}): Promise<TestUsers> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-users-'))
  const config = readUsersConfig({
    DATABASE_URL: databaseUrl,
    NATS_URL: testServers().natsUrl.users,
    ROSTER_ENCRYPTION_KEY: encryptionKey,
    ROSTER_CALLER_KEY: testCallerKeys.users,
    ROSTER_ADMIN_TOKEN_FILE: join(folder, 'deep', 'admin-token'),
    ...settings,
  })
  const sql = openDatabase(databaseUrl, 'users', silent)
  await migrate(sql, new URL('../migrations/', import.meta.url), silent)
  const personal = await openPersonal(sql, model.personal!, config.ROSTER_ENCRYPTION_KEY)
  const store = createStore(sql, model, silent, () => {}, undefined, { personal })
  const signingKeys = await openSigningKeys(sql, config.ROSTER_ENCRYPTION_KEY, config, silent)
  const idTokenKeys = await openIdTokenKeys(sql, config.ROSTER_ENCRYPTION_KEY, config, silent)
  const afterResponse = openAfterResponse(silent)
  const secretUses = openSecretUses(sql, silent)
  const credentialUses = openCredentialUses(sql, silent)
  const failureCounts = openFailureCounts(sql, config, silent)
  const arrivals = openArrivals(sql, silent)
  const passwordHashes = await openPasswordHashes(sql, config)
  const nats = await connectNats(config.NATS_URL, 'users', silent)
  const grants = createClient(nats, GrantsInternal, internalCalls.users.grants)
  const idp = createClient(nats, IdpInternal, internalCalls.users.idp)
  return {
    config,
    sql,
    store,
    personal,
    keys: config.ROSTER_ENCRYPTION_KEY,
    signingKeys,
    idTokenKeys,
    log: silent,
    afterResponse,
    secretUses,
    credentialUses,
    failureCounts,
    arrivals,
    lockAfterWrong: (user, requestId) => lockAfterWrong({ config, sql, store, grants }, user, requestId),
    passwordHashes,
    grants,
    idp,
    rolesElsewhere: { find: async () => ({}) },
    announceMail: () => {},
    tokenFile: config.ROSTER_ADMIN_TOKEN_FILE,
    async stop() {
      await afterResponse.stop()
      await secretUses.stop()
      await credentialUses.stop()
      await failureCounts.stop()
      await arrivals.stop()
      signingKeys.stop()
      idTokenKeys.stop()
      await nats.connection.close()
      await sql.end({ timeout: 5 })
      rmSync(folder, {
        recursive: true,
        force: true,
      })
    },
  }
}

/**
 * Answers, in place of grants, which organization has a domain, which roles on the instance a user has, which domain the
 * instance gave an organization, and what an application is like.
 */
export async function serveDomains(
  domains: Record<string, string>,
  roles: Record<string, string[]> = {},
  { owned = {}, copied = () => [] }: { owned?: Record<string, string>; copied?: (clientId: string) => Copied[] } = {},
): Promise<{ stop(): Promise<void> }> {
  const nats = await connectNats(testServers().natsUrl.grants, 'grants', silent)
  const service = await serve({
    name: 'grants',
    nats,
    log: silent,
    context: {},
    readCaller: testReader('grants'),
    services: [
      served<typeof GrantsInternal, object>(GrantsInternal, {
        listMemberships: async (_, { userId }) => ({
          instanceRoles: roles[userId] ?? [],
          memberships: [],
          projectMemberships: [],
          organizationClosed: false,
          hasRole: userId in roles,
          moreOthers: false,
        }),
        listProjectRoles: async () => ({ organizationId: '', grants: [], admits: false, admissions: [] }),
        recordRefusals: () => Promise.resolve({}),
        giveInvitedRoles: () => Promise.resolve({}),
        checkProviderRoles: () => Promise.resolve({}),
        setProviderRoles: () => Promise.resolve({}),
        listInstanceOwners: async () => ({
          userIds: Object.keys(roles).filter((userId) => roles[userId]!.includes('IAM_OWNER')),
        }),
        listOwnedOrganizations: async () => ({ organizations: [] }),
        async lookupOrganization(_, { by }) {
          const organizationId = by?.$case === 'primaryDomain' ? domains[by.value] : by?.value
          if (organizationId === undefined) throw new RosterError('NOT_FOUND', 'ORGANIZATION_NOT_FOUND', '')
          return {
            organizationId,
            ownedDomain: owned[organizationId] ?? '',
            primaryDomain: '',
            name: `The ${organizationId}`,
            verifiedDomains: [],
            lostDomains: [],
            ownerIds: [],
          }
        },
        lookupApplication: async (_, { by }) => ({ copied: by?.$case === 'clientId' ? copied(by.value) : [] }),
        listEvents: async () => ({ events: [], next: undefined, endReached: true }),
        listCheckpoints: async () => ({ checkpoints: [], keys: [] }),
      }),
    ],
  })
  return {
    async stop() {
      await service.stop()
      await nats.connection.close()
    },
  }
}

/** A call of the machine administrator in an organization. */
export const callIn = (organizationId: string, clientAddress = '203.0.113.7') => ({
  caller: {
    ...anonymous,
    userId: 'root',
    organizationId,
    instanceRoles: ['IAM_OWNER'],
  },
  organizationId,
  clientAddress,
  requestId: 'test',
  traceparent: '',
  deadline: Date.now() + 2e4,
})

/** Signs a person in by name and password, the one form of CreateSession that is public. */
export function signInBy(context: Context, by: { loginName: string; password: string }, call: Call) {
  return createSession.handle(context, { ...by, userId: '', lifetime: undefined }, call)
}
