import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { AccountServiceDefinition } from '#gen/roster/users/v1/account_service'
import { AuthRequestServiceDefinition } from '#gen/roster/users/v1/auth_request_service'
import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { LoginPolicyServiceDefinition } from '#gen/roster/users/v1/login_policy_service'
import { OAuthServiceDefinition } from '#gen/roster/users/v1/oauth_service'
import { CredentialServiceDefinition } from '#gen/roster/users/v1/credential_service'
import { SessionServiceDefinition } from '#gen/roster/users/v1/session_service'
import { SignInServiceDefinition } from '#gen/roster/users/v1/sign_in_service'
import { SettingsServiceDefinition } from '#gen/roster/users/v1/settings_service'
import { PasswordServiceDefinition } from '#gen/roster/users/v1/password_service'
import { UserServiceDefinition } from '#gen/roster/users/v1/user_service'
import { untilReachable } from '#lib/database/database'
import type { Parts, Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import type { Feed } from '#lib/subscriptions/own-events'
import { ofInstance } from '#lib/rpc/of-instance'
import { createRolesElsewhere } from '#lib/rpc/roles-elsewhere'
import { served } from '#lib/rpc/serve'
import { startStoringService, type StoringService } from '#lib/storing-service'
import { announceMail } from './announce-mail.ts'
import { bootstrap } from './bootstrap.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { addHumanUser } from './operations/user/add-human-user.ts'
import { addMachineKey } from './operations/credential/add-machine-key.ts'
import { addMachineSecret } from './operations/credential/add-machine-secret.ts'
import { addMachineUser } from './operations/user/add-machine-user.ts'
import { addPersonalAccessToken } from './operations/credential/add-personal-access-token.ts'
import { authenticate } from './operations/internal/authenticate.ts'
import { authorize } from './operations/sign-in/authorize.ts'
import { bulkAddUsers } from './operations/user/bulk-add-users.ts'
import { createCallback } from './operations/auth-request/create-callback.ts'
import { getAuthRequest } from './operations/auth-request/get-auth-request.ts'
import { createSession } from './operations/session/create-session.ts'
import { chooseAccount } from './operations/sign-in/choose-account.ts'
import { deactivateUser } from './operations/user/deactivate-user.ts'
import { decide } from './operations/sign-in/decide.ts'
import { deleteSession } from './operations/session/delete-session.ts'
import { deleteUser } from './operations/user/delete-user.ts'
import { endSession } from './operations/sign-in/end-session.ts'
import { endMySession } from './operations/account/end-my-session.ts'
import { finishRegistration } from './operations/sign-in/finish-registration.ts'
import { getEmailCode } from './operations/internal/get-email-code.ts'
import { getServerMetadata } from './operations/oauth/get-server-metadata.ts'
import { getSigningKeys } from './operations/internal/get-signing-keys.ts'
import { getUserInfo } from './operations/oauth/get-user-info.ts'
import { getUser } from './operations/user/get-user.ts'
import { listAuthenticationMethodTypes } from './operations/user/find/list-authentication-method-types.ts'
import { getMyUser } from './operations/user/find/get-my-user.ts'
import { isUserUnique } from './operations/user/find/is-user-unique.ts'
import {
  getActiveIdentityProviders,
  getDomainSettings,
  getGeneralSettings,
  getLegalAndSupportSettings,
  getLockoutSettings,
  getPasswordComplexitySettings,
  getPasswordExpirySettings,
  getSecuritySettings,
} from './operations/settings/fixed-settings.ts'
import { getBrandingSettings } from './operations/settings/get-branding-settings.ts'
import { getLoginSettings } from './operations/settings/get-login-settings.ts'
import { getLoginPolicy } from './operations/login-policy/get-login-policy.ts'
import { resetLoginPolicy, updateLoginPolicy } from './operations/login-policy/update-login-policy.ts'
import { explainSignIn } from './operations/session/explain-sign-in.ts'
import { searchUserConsents } from './operations/consent/search-user-consents.ts'
import { withdrawMyConsent } from './operations/account/withdraw-my-consent.ts'
import { withdrawConsent } from './operations/consent/withdraw-consent.ts'
import { getSession } from './operations/session/get-session.ts'
import { setSession } from './operations/session/set-session.ts'
import { deleteUserSessions } from './operations/session/delete-user-sessions.ts'
import { searchSessions } from './operations/session/search-sessions.ts'
import { searchMySessions, searchUserSessions } from './operations/session/search-user-sessions.ts'
import { updateHumanProfile } from './operations/user/update-human-profile.ts'
import { updateMachine } from './operations/user/update-machine.ts'
import { updateUserName } from './operations/user/update-user-name.ts'
import { listUserChanges } from './operations/user/find/list-user-changes.ts'
import { searchUsers } from './operations/user/find/search-users.ts'
import { introspectToken } from './operations/oauth/introspect-token.ts'
import { issueToken } from './operations/oauth/issue-token.ts'
import { listSigningKeys } from './operations/oauth/list-signing-keys.ts'
import { listMachineKeys } from './operations/credential/list-machine-keys.ts'
import { listMachineSecrets } from './operations/credential/list-machine-secrets.ts'
import { listPersonalAccessTokens } from './operations/credential/list-personal-access-tokens.ts'
import { listSessionApplications } from './operations/internal/list-session-applications.ts'
import { leaveAccount } from './operations/account/leave-account.ts'
import { listUnsentEmailCodes } from './operations/internal/list-unsent-email-codes.ts'
import { lockUser } from './operations/user/lock-user.ts'
import { lookupUsers } from './operations/internal/lookup-users.ts'
import { lookupUser } from './operations/internal/lookup-user.ts'
import { passwordReset } from './operations/password/password-reset.ts'
import { requestPasswordReset } from './operations/password/request-password-reset.ts'
import { resetPassword } from './operations/password/reset-password.ts'
import { matchUsers } from './operations/internal/match-users.ts'
import { reactivateUser } from './operations/user/reactivate-user.ts'
import { recordEmailCode } from './operations/internal/record-email-code.ts'
import { register } from './operations/sign-in/register.ts'
import { removeMachineKey } from './operations/credential/remove-machine-key.ts'
import { removeMachineSecret } from './operations/credential/remove-machine-secret.ts'
import { removePersonalAccessToken } from './operations/credential/remove-personal-access-token.ts'
import { releaseInstanceOwners } from './operations/internal/release-instance-owners.ts'
import { resendEmailCode } from './operations/user/resend-email-code.ts'
import { restoreInstanceOwners } from './operations/internal/restore-instance-owners.ts'
import { restoreUser } from './operations/user/restore-user.ts'
import { revokeToken } from './operations/oauth/revoke-token.ts'
import { setDPoP } from './operations/oauth/set-dpop.ts'
import { setEmail } from './operations/user/set-email.ts'
import { setPassword } from './operations/password/set-password.ts'
import { showSignOut } from './operations/sign-in/show-sign-out.ts'
import { signOut } from './operations/sign-in/sign-out.ts'
import { signLogoutToken } from './operations/internal/sign-logout-token.ts'
import { showAccount } from './operations/account/show-account.ts'
import { showLogo } from './operations/sign-in/show-logo.ts'
import { showSignIn } from './operations/sign-in/show-sign-in.ts'
import { signIn } from './operations/sign-in/sign-in.ts'
import { unlockUser } from './operations/user/unlock-user.ts'
import { updateMyPassword } from './operations/password/update-my-password.ts'
import { updateMyProfile } from './operations/user/update-my-profile.ts'
import { traceUserState } from './operations/internal/trace-user-state.ts'
import { useProof } from './operations/internal/use-proof.ts'
import { verifyEmail } from './operations/user/verify-email.ts'
import { startErasureAgain } from './erasure/erase-again.ts'
import { startDueErasure } from './erasure/erase-due.ts'
import { startErasure } from './erasure/erasure.ts'
import { startErasureInStatistics } from './erasure/erase-in-statistics.ts'
import { saltCodes } from './email/salt-codes.ts'
import { startExpiryWarnings } from './credentials/expiry-warnings.ts'
import { ownerOfSession, ownerOfUser } from './owners.ts'
import { startFollowingApplications } from './applications/follow-applications.ts'
import { startKeepingLoginAddresses } from './names/login-addresses.ts'
import { startEndingOrganizationSessions } from './sign-out/end-organization-sessions.ts'
import { startFollowingOrganizations } from './organizations/follow-organizations.ts'
import { startPruning } from './pruning.ts'
import { startCountingFailures } from './sign-in/failures.ts'
import { surplusAuthorizations } from './authorization/surplus.ts'
import { surplusSessions } from './sign-in/surplus.ts'
import { fillFoundUsers } from './search/found-users.ts'
import { openIdTokenKeys } from './oauth/keys/id-token-keys.ts'
import { openSigningKeys } from './oauth/keys/signing-keys.ts'
import { openAfterResponse } from './after-response.ts'
import { model } from './model.ts'
import { callerChangedBy } from './caller-changed-by.ts'
import { internalCalls } from '../internal-calls.ts'
import { membershipsIn, rolesThere } from '../roles-there.ts'

const users: StoringService<Config, Context> = {
  name: 'users',
  vocabulary: model,
  callerChangedBy,
  async open({ config, nats, log, sql, store, feed, personal: opened }) {
    const personal = opened!
    const keys = await untilReachable(nats.waits, () => saltCodes(sql, config.ROSTER_ENCRYPTION_KEY))
    const grants = createClient(nats, GrantsInternal, internalCalls.users.grants)
    const signingKeys = await untilReachable(nats.waits, () => openSigningKeys(sql, keys, config, log))
    const idTokenKeys = await untilReachable(nats.waits, () => openIdTokenKeys(sql, keys, config, log))
    const afterResponse = openAfterResponse(log)
    const rolesElsewhere = createRolesElsewhere(nats, async (userId, organizationId) => {
      const call = { requestId: '', deadline: Date.now() + 5000 }
      return rolesThere(await grants.listMemberships(membershipsIn(userId, organizationId), call), organizationId)
    })
    const context: Context = {
      config,
      sql,
      store,
      personal,
      keys,
      signingKeys,
      idTokenKeys,
      grants,
      rolesElsewhere,
      announceMail: (mail) => announceMail(nats, mail),
      log,
      afterResponse,
    }
    const ownFeed: Feed<object> = (request) => feed({}, request)
    await fillFoundUsers(sql, personal)
    await bootstrap(context, nats.waits)
    const background = [
      startPruning(context),
      surplusSessions.start(context),
      surplusAuthorizations.start(context),
      startExpiryWarnings(context),
      startCountingFailures(context),
      ...startFollowingOrganizations(context, nats, log),
      startEndingOrganizationSessions(context, nats, log),
      startFollowingApplications(context, nats, log),
      startDueErasure(context),
      startErasure({ sql, nats, log, feed: ownFeed }),
      startKeepingLoginAddresses(context, nats, ownFeed),
      startErasureAgain({ sql, nats, log }),
      startErasureInStatistics({ sql, log }),
      signingKeys,
      idTokenKeys,
      afterResponse,
      rolesElsewhere,
    ]
    return { context, background }
  },
  owners: { user_id: ownerOfUser, session_id: ownerOfSession },
  rolesThere: ({ rolesElsewhere }, userId, organizationId) => rolesElsewhere.find(userId, organizationId),
  services: (listEvents, listCheckpoints) => [
    served<typeof UserServiceDefinition, Context>(UserServiceDefinition, {
      updateMyProfile,
      addMachineUser,
      addHumanUser,
      bulkAddUsers,
      getUser,
      listAuthenticationMethodTypes,
      getMyUser,
      searchUsers,
      isUserUnique,
      updateUserName,
      updateHumanProfile,
      updateMachine,
      listUserChanges,
      setEmail,
      verifyEmail,
      resendEmailCode,
      deactivateUser,
      reactivateUser,
      lockUser,
      unlockUser,
      deleteUser,
      restoreUser,
    }),
    served<typeof PasswordServiceDefinition, Context>(PasswordServiceDefinition, {
      setPassword,
      updateMyPassword,
      requestPasswordReset,
      passwordReset,
      resetPassword,
    }),
    served<typeof SessionServiceDefinition, Context>(SessionServiceDefinition, {
      createSession,
      setSession,
      getSession,
      searchSessions,
      deleteSession,
      searchMySessions,
      searchUserSessions,
      deleteUserSessions,
      searchUserConsents,
      withdrawConsent,
      explainSignIn,
    }),
    served<typeof SignInServiceDefinition, Context>(SignInServiceDefinition, {
      authorize,
      showSignIn,
      signIn,
      chooseAccount,
      register,
      finishRegistration,
      decide,
      endSession,
      showSignOut,
      signOut,
      showLogo,
    }),
    served<typeof LoginPolicyServiceDefinition, Context>(LoginPolicyServiceDefinition, {
      getLoginPolicy,
      updateLoginPolicy,
      resetLoginPolicy,
      getInstanceLoginPolicy: ofInstance(getLoginPolicy),
      updateInstanceLoginPolicy: ofInstance(updateLoginPolicy),
      resetInstanceLoginPolicy: ofInstance(resetLoginPolicy),
    }),
    served<typeof SettingsServiceDefinition, Context>(SettingsServiceDefinition, {
      getGeneralSettings,
      getLoginSettings,
      getActiveIdentityProviders,
      getPasswordComplexitySettings,
      getPasswordExpirySettings,
      getBrandingSettings,
      getDomainSettings,
      getLegalAndSupportSettings,
      getLockoutSettings,
      getSecuritySettings,
    }),
    served<typeof AccountServiceDefinition, Context>(AccountServiceDefinition, {
      showAccount,
      endMySession,
      withdrawMyConsent,
      leaveAccount,
    }),
    served<typeof AuthRequestServiceDefinition, Context>(AuthRequestServiceDefinition, {
      getAuthRequest,
      createCallback,
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
      lookupUsers,
      traceUserState,
      matchUsers,
      releaseInstanceOwners,
      restoreInstanceOwners,
      getEmailCode,
      recordEmailCode,
      listUnsentEmailCodes,
      listSessionApplications,
      signLogoutToken,
      listEvents,
      listCheckpoints,
    }),
  ],
}

/** Starts the users service: brings its schema up to date, makes the first administrators, and answers. */
export function startUsers(parts: Parts<Config>): Promise<Service> {
  return startStoringService(users, new URL('./migrations/', import.meta.url), parts)
}
