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
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { addHumanUser } from './operations/user/add-human-user.ts'
import { addMachineKey } from './operations/credential/add-machine-key.ts'
import { addMachineSecret } from './operations/credential/add-machine-secret.ts'
import { addMachineUser } from './operations/user/add-machine-user.ts'
import { addPersonalAccessToken } from './operations/credential/add-personal-access-token.ts'
import { authenticate } from './operations/internal/authenticate.ts'
import { beforeSessionReplay, createSession } from './operations/session/create-session.ts'
import { deactivateUser } from './operations/user/deactivate-user.ts'
import { deleteSession } from './operations/session/delete-session.ts'
import { deleteUser } from './operations/user/delete-user.ts'
import { getEmailCode } from './operations/internal/get-email-code.ts'
import { getServerMetadata } from './operations/oauth/get-server-metadata.ts'
import { getSigningKeys } from './operations/internal/get-signing-keys.ts'
import { getUserInfo } from './operations/oauth/get-user-info.ts'
import { getUser } from './operations/user/get-user.ts'
import { introspectToken } from './operations/oauth/introspect-token.ts'
import { issueToken } from './operations/oauth/issue-token.ts'
import { listSigningKeys } from './operations/oauth/list-signing-keys.ts'
import { listMachineKeys } from './operations/credential/list-machine-keys.ts'
import { listMachineSecrets } from './operations/credential/list-machine-secrets.ts'
import { listPersonalAccessTokens } from './operations/credential/list-personal-access-tokens.ts'
import { listUnsentEmailCodes } from './operations/internal/list-unsent-email-codes.ts'
import { lockUser } from './operations/user/lock-user.ts'
import { lookupUser } from './operations/internal/lookup-user.ts'
import { reactivateUser } from './operations/user/reactivate-user.ts'
import { recordEmailCode } from './operations/internal/record-email-code.ts'
import { removeMachineKey } from './operations/credential/remove-machine-key.ts'
import { removeMachineSecret } from './operations/credential/remove-machine-secret.ts'
import { removePersonalAccessToken } from './operations/credential/remove-personal-access-token.ts'
import { resendEmailCode } from './operations/user/resend-email-code.ts'
import { revokeToken } from './operations/oauth/revoke-token.ts'
import { setDPoP } from './operations/oauth/set-dpop.ts'
import { setEmail } from './operations/user/set-email.ts'
import { unlockUser } from './operations/user/unlock-user.ts'
import { updateMyProfile } from './operations/user/update-my-profile.ts'
import { useProof } from './operations/internal/use-proof.ts'
import { verifyEmail } from './operations/user/verify-email.ts'
import { startExpiryWarnings } from './credentials/expiry-warnings.ts'
import { ownerOfSession, ownerOfUser } from './owners.ts'
import { startPruning } from './pruning.ts'
import { startEndingSurplus } from './sign-in/sessions.ts'
import { openSigningKeys } from './oauth/signing-keys.ts'
import { callerChangedBy, project } from './views.ts'
import { evolve } from './vocabulary/evolve.ts'

/** Starts the users service: brings its schema up to date, makes the first administrators, and answers. */
export async function startUsers({ config, nats, log }: { config: Config; nats: Nats; log: Log }): Promise<Service> {
  const sql = openDatabase(config.DATABASE_URL, 'users', log)
  await migrate(sql, new URL('./migrations/', import.meta.url), log)
  const tail = startTail({ service: 'users', sql, nats, log, callerChangedBy })
  const answers = keepAnswers(sql, config.ROSTER_ENCRYPTION_KEY, log)
  const store = createStore(sql, { evolve, project }, log, tail.committed, answers, config.EVENT_MAX_BYTES)
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
