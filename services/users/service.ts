import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { OAuthServiceDefinition } from '#gen/roster/users/v1/oauth_service'
import { CredentialServiceDefinition } from '#gen/roster/users/v1/credential_service'
import { SessionServiceDefinition } from '#gen/roster/users/v1/session_service'
import { UserServiceDefinition } from '#gen/roster/users/v1/user_service'
import { openDatabase } from '#lib/eventstore/database'
import { createFeed } from '#lib/eventstore/feed'
import { migrate } from '#lib/eventstore/migrate'
import { keepAnswers } from '#lib/eventstore/once'
import { createStore } from '#lib/eventstore/store'
import { startTail } from '#lib/eventstore/tail'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import type { Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { serve, served } from '#lib/rpc/serve'
import { createCallerReader } from '#lib/rpc/verify-callers'
import { bootstrap } from './bootstrap.ts'
import { evolveAuthentication } from './authentication.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { addHumanUser } from './operations/add-human-user.ts'
import { addMachineKey } from './operations/add-machine-key.ts'
import { addMachineSecret } from './operations/add-machine-secret.ts'
import { addMachineUser } from './operations/add-machine-user.ts'
import { addPersonalAccessToken } from './operations/add-personal-access-token.ts'
import { authenticate } from './operations/authenticate.ts'
import { beforeSessionReplay, createSession } from './operations/create-session.ts'
import { deactivateUser } from './operations/deactivate-user.ts'
import { deleteSession } from './operations/delete-session.ts'
import { deleteUser } from './operations/delete-user.ts'
import { getEmailCode } from './operations/get-email-code.ts'
import { getServerMetadata } from './operations/get-server-metadata.ts'
import { getSigningKeys } from './operations/get-signing-keys.ts'
import { getUserInfo } from './operations/get-user-info.ts'
import { getUser } from './operations/get-user.ts'
import { introspectToken } from './operations/introspect-token.ts'
import { issueToken } from './operations/issue-token.ts'
import { listSigningKeys } from './operations/list-signing-keys.ts'
import { listMachineKeys } from './operations/list-machine-keys.ts'
import { listMachineSecrets } from './operations/list-machine-secrets.ts'
import { listPersonalAccessTokens } from './operations/list-personal-access-tokens.ts'
import { listUnsentEmailCodes } from './operations/list-unsent-email-codes.ts'
import { lockUser } from './operations/lock-user.ts'
import { lookupUser } from './operations/lookup-user.ts'
import { reactivateUser } from './operations/reactivate-user.ts'
import { recordEmailCode } from './operations/record-email-code.ts'
import { removeMachineKey } from './operations/remove-machine-key.ts'
import { removeMachineSecret } from './operations/remove-machine-secret.ts'
import { removePersonalAccessToken } from './operations/remove-personal-access-token.ts'
import { resendEmailCode } from './operations/resend-email-code.ts'
import { revokeToken } from './operations/revoke-token.ts'
import { setDPoP } from './operations/set-dpop.ts'
import { setEmail } from './operations/set-email.ts'
import { unlockUser } from './operations/unlock-user.ts'
import { updateMyProfile } from './operations/update-my-profile.ts'
import { useProof } from './operations/use-proof.ts'
import { verifyEmail } from './operations/verify-email.ts'
import { startExpiryWarnings } from './expiry-warnings.ts'
import { ownerOfSession, ownerOfUser } from './owners.ts'
import { startPruning } from './pruning.ts'
import { startEndingSurplus } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'
import { callerChangedBy, project } from './views.ts'
import { evolveSession, evolveUser } from './vocabulary.ts'

/** Starts the users service: brings its schema up to date, makes the first administrators, and answers. */
export async function startUsers({ config, nats, log }: { config: Config; nats: Nats; log: Log }): Promise<Service> {
  const sql = openDatabase(config.DATABASE_URL, 'users', log)
  await migrate(sql, new URL('./migrations/', import.meta.url), log)
  const tail = startTail({ service: 'users', sql, nats, log, callerChangedBy })
  const answers = keepAnswers(sql, config.ROSTER_ENCRYPTION_KEY, log)
  const vocabulary = {
    evolve: { user: evolveUser, session: evolveSession, authentication: evolveAuthentication },
    project,
  }
  const store = createStore(sql, vocabulary, log, tail.committed, answers, config.EVENT_MAX_BYTES)
  const grants = createClient(nats, 'users', GrantsInternal)
  const keys = config.ROSTER_ENCRYPTION_KEY
  const signingKeys = await openSigningKeys(sql, keys, config, log)
  const context: Context = { config, sql, store, keys, signingKeys, grants, log }
  await bootstrap(context)
  const pruning = startPruning(context)
  const endingSurplus = startEndingSurplus(context)
  const expiryWarnings = startExpiryWarnings(context)
  const answering = await serve({
    name: 'users',
    nats,
    log,
    context,
    readCaller: createCallerReader('users', config.ROSTER_CALLER_KEY(log)),
    answers,
    parked: tail.parked,
    owners: { user_id: ownerOfUser, session_id: ownerOfSession },
    services: [
      served<typeof UserServiceDefinition, Context>(UserServiceDefinition, {
        updateMyProfile,
        addMachineUser,
        addHumanUser,
        getUser,
        setEmail,
        verifyEmail,
        resendEmailCode,
        deactivateUser,
        reactivateUser,
        lockUser,
        unlockUser,
        deleteUser,
      }),
      served<typeof SessionServiceDefinition, Context>(SessionServiceDefinition, {
        createSession: { beforeReplay: beforeSessionReplay, handle: createSession },
        deleteSession,
      }),
      served<typeof OAuthServiceDefinition, Context>(OAuthServiceDefinition, {
        issueToken,
        introspectToken,
        revokeToken,
        listSigningKeys,
        getServerMetadata,
        setDPoP,
        getUserInfo,
      }),
      served<typeof CredentialServiceDefinition, Context>(CredentialServiceDefinition, {
        addPersonalAccessToken,
        listPersonalAccessTokens,
        removePersonalAccessToken,
        addMachineKey,
        listMachineKeys,
        removeMachineKey,
        addMachineSecret,
        listMachineSecrets,
        removeMachineSecret,
      }),
      served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, {
        authenticate,
        getSigningKeys,
        useProof,
        lookupUser,
        getEmailCode,
        recordEmailCode,
        listUnsentEmailCodes,
        listEvents: createFeed({ service: 'users', sql, log }),
      }),
    ],
  })
  return {
    async stop() {
      await answering.stop()
      answers.stop()
      pruning.stop()
      signingKeys.stop()
      await expiryWarnings.stop()
      await endingSurplus.stop()
      await tail.stop()
      await sql.end()
    },
  }
}
