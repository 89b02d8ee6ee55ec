import { randomBytes } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { v7 as uuid } from 'uuid'
import { AccessTokenType, Gender } from '#gen/roster/users/v1/user'
import { type Aggregate, evenUnreadable } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { untilReachable } from '#lib/database/database'
import { createWaits } from '#lib/health/waits'
import { instance } from '#lib/instance'
import { anonymous } from '#lib/rpc/caller'
import type { Context } from './context.ts'
import { claimUserName } from './directory/new-user.ts'
import { refuseWeakPassword } from './directory/passwords/refuse-weak-password.ts'
import { newToken, storeToken } from './directory/tokens/token.ts'
import type { User, UserEvent } from './directory/events/user.ts'

const lock = 7_265_003
const organizationId = instance.organization.id

/**
 * Creates the first administrators, a human and a machine, where they are missing. Writes the machine's token to its
 * file. The file is written before the token is stored: if a start dies in between, the next start replaces the file.
 * Waits for PostgreSQL.
 */
export async function bootstrap(context: Context, waits = createWaits(context.log)): Promise<void> {
  // Every try uses the same password and token. A try that heard of no success may still be stored later.
  const password = context.config.ROSTER_ADMIN_PASSWORD ?? randomBytes(18).toString('base64url')
  const token = newToken()
  await untilReachable(waits, () =>
    context.sql.begin(async (transaction) => {
      await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
      await addHuman(context, password)
      await addMachine(context, token)
    }),
  )
}

async function addHuman({ config, store, log, passwordHashes }: Context, password: string) {
  const { id, userName } = instance.humanAdministrator
  if (await evenUnreadable(store.load('user', id))) return
  if (config.ROSTER_ADMIN_PASSWORD === undefined) {
    const file = join(dirname(config.ROSTER_ADMIN_TOKEN_FILE), 'admin-password')
    await writeSecret(file, password)
    log.info({ file }, 'wrote the password of the first administrator')
  }
  refuseWeakPassword(password, 'ROSTER_ADMIN_PASSWORD', { userName })
  const hash = await passwordHashes.hash(password, { lane: '' })
  await store.execute(
    creation(id, {
      claims: [claimUserName(organizationId, userName)],
      events: [
        {
          type: 'human.added',
          payload: {
            userName,
            profile: {
              firstName: 'Roster',
              lastName: 'Administrator',
              displayName: 'Roster Administrator',
              preferredLanguage: '',
              gender: Gender.GENDER_UNSPECIFIED,
            },
            email: `admin@${new URL(config.PUBLIC_URL).hostname}`,
            isVerified: true,
          },
        },
      ],
      writes: [(sql) => sql`insert into passwords (user_id, hash) values (${id}, ${hash})`],
      answer: undefined,
    }),
  )
}

async function addMachine(context: Context, token: string) {
  const { config, store, log } = context
  const { id, userName } = instance.machineAdministrator
  if (await evenUnreadable(store.load('user', id))) return adoptToken(context)
  const tokenId = uuid()
  await writeSecret(config.ROSTER_ADMIN_TOKEN_FILE, token)
  log.info({ file: config.ROSTER_ADMIN_TOKEN_FILE }, 'wrote the token of the first administrator')
  await store.execute(
    creation(id, {
      claims: [claimUserName(organizationId, userName)],
      events: [
        {
          type: 'machine.added',
          payload: {
            userName,
            name: 'Roster administrator',
            description: '',
            accessTokenType: AccessTokenType.ACCESS_TOKEN_TYPE_BEARER,
          },
        },
        { type: 'pat.added', payload: { tokenId } },
      ],
      writes: [
        storeToken(token, {
          userId: id,
          organizationId,
          human: false,
          sessionId: '',
          credentialId: tokenId,
          expiresAt: null,
        }),
      ],
      answer: undefined,
    }),
  )
}

// Lists the token of an administrator that was made before credentials were listed, so that it can be removed.
async function adoptToken({ sql, store }: Context) {
  const { id } = instance.machineAdministrator
  const [old] = await sql`select from tokens where user_id = ${id} and session_id = '' and credential_id = ''`
  if (!old) return
  const tokenId = uuid()
  const decision: Decision<UserEvent> = {
    events: [{ type: 'pat.added', payload: { tokenId } }],
    writes: [
      (transaction) => transaction`
        update tokens set credential_id = ${tokenId}
        where user_id = ${id} and session_id = '' and credential_id = ''
      `,
    ],
    answer: undefined,
  }
  await store.execute({ ...creation(id, decision), decide: () => decision })
}

function creation(id: string, decision: Decision<UserEvent>) {
  return {
    aggregate: { type: 'user', id },
    call: { caller: { ...anonymous, userId: id }, requestId: 'bootstrap', deadline: Date.now() + 30_000 },
    decide: ({ state }: Aggregate<User>): Decision<UserEvent> =>
      state === undefined ? { ...decision, organizationId } : { events: [], answer: undefined },
  }
}

// Writing to an existing file would keep its mode, so a new file takes its place.
async function writeSecret(file: string, secret: string) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.new`, `${secret}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
