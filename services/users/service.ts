import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import { AccountServiceDefinition } from '#gen/roster/users/v1/account_service'
import { AuthRequestServiceDefinition } from '#gen/roster/users/v1/auth_request_service'
import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { InvitationServiceDefinition } from '#gen/roster/users/v1/invitation_service'
import { CustomLoginPolicyServiceDefinition } from '#gen/roster/users/v1/custom_login_policy_service'
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
import { addHumanUser } from './directory/operations/user/add-human-user.ts'
import { addMachineKey } from './directory/operations/credential/add-machine-key.ts'
import { addMachineSecret } from './directory/operations/credential/add-machine-secret.ts'
import { addMachineUser } from './directory/operations/user/add-machine-user.ts'
import { addPersonalAccessToken } from './directory/operations/credential/add-personal-access-token.ts'
import { authenticate } from './internal/authenticate.ts'
import { authorize } from './pages/operations/sign-in/authorize.ts'
import { bulkAddUsers } from './directory/operations/user/bulk-add-users.ts'
import { createCallback } from './pages/own-pages/create-callback.ts'
import { acceptInvitation } from './pages/operations/invitation/accept-invitation.ts'
import { openInvitation } from './pages/operations/invitation/open-invitation.ts'
import { showInvitation } from './pages/operations/invitation/show-invitation.ts'
import { addInvitation } from './pages/invitation/add-invitation.ts'
import { bulkAddInvitations } from './pages/invitation/bulk-add-invitations.ts'
import { getInvitation } from './pages/invitation/get-invitation.ts'
import { searchInvitations } from './pages/invitation/search-invitations.ts'
import { resendInvitation } from './pages/invitation/resend-invitation.ts'
import { revokeInvitation } from './pages/invitation/revoke-invitation.ts'
import { startFinishingInvitations } from './pages/invitation/finish-invitation.ts'
import { getAuthRequest } from './pages/own-pages/get-auth-request.ts'
import { withCookieLifetime } from './sessions/browsers/cookie-lifetime.ts'
import { countSignIns } from './sessions/operations/sign-ins/count-sign-ins.ts'
import { createSession } from './sessions/operations/session/create-session.ts'
import { checkCode } from './pages/operations/sign-in/check-code.ts'
import { addOTPEmail, removeOTPEmail } from './sessions/operations/factors/otp-email.ts'
import { createPasskeyRegistrationLink } from './sessions/operations/passkeys/create-passkey-registration-link.ts'
import {
  retrieveIdentityProviderIntent,
  startIdentityProviderIntent,
} from './sessions/operations/idp-links/idp-intents.ts'
import { addIdpLink } from './sessions/operations/idp-links/add-idp-link.ts'
import { listIdpLinks, removeIdpLink } from './sessions/operations/idp-links/idp-links.ts'
import { listPasskeys } from './sessions/operations/passkeys/list-passkeys.ts'
import { registerPasskey } from './sessions/operations/passkeys/register-passkey.ts'
import { registerU2F } from './sessions/operations/passkeys/register-u2f.ts'
import { removePasskey, removeU2F } from './sessions/operations/passkeys/remove.ts'
import { verifyPasskeyRegistration } from './sessions/operations/passkeys/verify-passkey-registration.ts'
import { verifyU2FRegistration } from './sessions/operations/passkeys/verify-u2f-registration.ts'
import { returnFromProviderLogout } from './pages/operations/provider/return-from-provider-logout.ts'
import { openIdentityProviderIntent } from './pages/operations/provider/open-identity-provider-intent.ts'
import { returnFromProvider } from './pages/operations/provider/return-from-provider.ts'
import { signInByProvider } from './pages/operations/provider/sign-in-by-provider.ts'
import { checkPasskey, renewPasskeyChallenge } from './pages/operations/sign-in/check-passkey.ts'
import { removeMyProvider } from './pages/account/my-providers.ts'
import { addPasskeyByLink, openPasskeyLink, showPasskeyLink } from './pages/account/passkey-link.ts'
import { addMyPasskey, changeMyPasskey } from './pages/account/my-passkeys.ts'
import { chooseAccount } from './pages/operations/sign-in/choose-account.ts'
import { deactivateUser } from './directory/operations/user/deactivate-user.ts'
import { decide } from './pages/operations/sign-in/decide.ts'
import { deleteSession } from './sessions/operations/session/delete-session.ts'
import { deleteUser } from './directory/operations/user/delete-user.ts'
import { endSession } from './pages/operations/sign-out/end-session.ts'
import { changeMyEmail } from './pages/account/change-my-email.ts'
import { changeMyPassword } from './pages/account/change-my-password.ts'
import { changeMyProfile } from './pages/account/change-my-profile.ts'
import { downloadMyData } from './pages/account/download-my-data.ts'
import { disownSession } from './pages/account/disown-session.ts'
import { endMySession } from './pages/account/end-my-session.ts'
import { proveMyEmail } from './pages/account/prove-my-email.ts'
import { removeMe } from './pages/account/remove-me.ts'
import { showTakeBack, takeBackEmail } from './pages/account/take-back-email.ts'
import { chooseNewPassword } from './pages/operations/sign-in/choose-new-password.ts'
import { finishRecovery } from './pages/operations/recovery/finish-recovery.ts'
import { finishRegistration } from './pages/operations/registration/finish-registration.ts'
import { recover } from './pages/operations/recovery/recover.ts'
import { showRecovery } from './pages/operations/recovery/show-recovery.ts'
import { getEmailCode } from './internal/mails/get-email-code.ts'
import { getServerMetadata } from './openid/operations/get-server-metadata.ts'
import { openConsoleSession } from './internal/open-console-session.ts'
import { getConsoleSession } from './internal/get-console-session.ts'
import { endConsoleSession } from './internal/end-console-session.ts'
import { getSigningKeys } from './internal/get-signing-keys.ts'
import { getUserInfo } from './openid/operations/get-user-info.ts'
import { getUser } from './directory/operations/user/get-user.ts'
import { listAuthenticationMethodTypes } from './sessions/operations/factors/list-authentication-method-types.ts'
import { getMyUser } from './directory/operations/find/get-my-user.ts'
import { isUserUnique } from './directory/operations/find/is-user-unique.ts'
import {
  getDomainSettings,
  getGeneralSettings,
  getPasswordComplexitySettings,
  getPasswordExpirySettings,
  getSecuritySettings,
} from './sessions/operations/settings/fixed-settings.ts'
import { getLockoutSettings } from './sessions/operations/settings/get-lockout-settings.ts'
import { lockAfterWrong } from './sessions/login-policy/lockout.ts'
import { getLegalAndSupportSettings } from './sessions/operations/settings/get-legal-and-support-settings.ts'
import { getBrandingSettings } from './sessions/operations/settings/get-branding-settings.ts'
import { getActiveIdentityProviders } from './sessions/operations/settings/get-active-identity-providers.ts'
import { getLoginSettings } from './sessions/operations/settings/get-login-settings.ts'
import { getLoginPolicy } from './sessions/operations/settings/get-login-policy.ts'
import { resetLoginPolicy, updateLoginPolicy } from './sessions/operations/settings/update-login-policy.ts'
import { changeLoginPolicyFactors } from './sessions/operations/custom-login-policy/change-login-policy-factors.ts'
import { changeLoginPolicyProviders } from './sessions/operations/custom-login-policy/change-login-policy-providers.ts'
import {
  addCustomLoginPolicy,
  getCustomLoginPolicy,
  resetCustomLoginPolicy,
  updateCustomLoginPolicy,
} from './sessions/operations/custom-login-policy/custom-login-policy.ts'
import { getLockoutPolicy, setLockoutPolicy } from './sessions/operations/custom-login-policy/lockout-policy.ts'
import { explainSignIn } from './pages/explain/explain-sign-in.ts'
import { explainToken } from './pages/explain/explain-token.ts'
import { searchUserConsents } from './openid/consents/search-user-consents.ts'
import { withdrawMyConsent } from './pages/account/withdraw-my-consent.ts'
import { withdrawConsent } from './openid/consents/withdraw-consent.ts'
import { getSession } from './sessions/operations/session/get-session.ts'
import { registerTOTP } from './sessions/operations/factors/register-totp.ts'
import { verifyTOTPRegistration } from './sessions/operations/factors/verify-totp-registration.ts'
import { removeTOTP } from './sessions/operations/factors/remove-totp.ts'
import { generateRecoveryCodes } from './sessions/operations/factors/generate-recovery-codes.ts'
import { removeRecoveryCodes } from './sessions/operations/factors/remove-recovery-codes.ts'
import { changeMyTOTP } from './pages/account/change-my-totp.ts'
import { changeMyRecoveryCodes } from './pages/account/change-my-recovery-codes.ts'
import { setSession } from './sessions/operations/session/set-session.ts'
import { deleteUserSessions } from './sessions/operations/session/delete-user-sessions.ts'
import { searchSessions } from './sessions/operations/session/search-sessions.ts'
import { searchMySessions, searchUserSessions } from './sessions/operations/session/search-user-sessions.ts'
import { searchUserSignIns } from './sessions/operations/sign-ins/search-user-sign-ins.ts'
import { searchSignInFailures } from './sessions/operations/sign-ins/search-sign-in-failures.ts'
import { searchSignIns } from './sessions/operations/sign-ins/search-sign-ins.ts'
import { searchUserSignInFailures } from './sessions/operations/sign-ins/search-user-sign-in-failures.ts'
import { updateHumanProfile } from './directory/operations/user/update-human-profile.ts'
import { updateMachine } from './directory/operations/user/update-machine.ts'
import { updateUserName } from './directory/operations/user/update-user-name.ts'
import { listUserChanges } from './directory/operations/find/list-user-changes.ts'
import { searchIdpLinks } from './directory/operations/find/search-idp-links.ts'
import { searchUsers } from './directory/operations/find/search-users.ts'
import { introspectToken } from './openid/operations/introspect-token.ts'
import { issueToken } from './openid/operations/issue-token.ts'
import { listSigningKeys } from './openid/operations/list-signing-keys.ts'
import { listEndingCredentials } from './directory/operations/credential/list-ending-credentials.ts'
import { listMachineKeys } from './directory/operations/credential/list-machine-keys.ts'
import { getMachineKey } from './directory/operations/credential/get-machine-key.ts'
import { listMachineSecrets } from './directory/operations/credential/list-machine-secrets.ts'
import { generateMachineSecret } from './directory/operations/credential/generate-machine-secret.ts'
import { listPersonalAccessTokens } from './directory/operations/credential/list-personal-access-tokens.ts'
import { getPersonalAccessToken } from './directory/operations/credential/get-personal-access-token.ts'
import { listSecretUses } from './internal/list-secret-uses.ts'
import { searchArrivals } from './internal/search-arrivals.ts'
import { getPersonTokenLifetime } from './internal/get-person-token-lifetime.ts'
import { listSessionApplications } from './internal/list-session-applications.ts'
import { leaveAccount } from './pages/account/leave-account.ts'
import { listUnsentEmailCodes } from './internal/mails/list-unsent-email-codes.ts'
import { lockUser } from './directory/operations/user/lock-user.ts'
import { lookupUsers } from './internal/lookup-users.ts'
import { lookupUser } from './internal/lookup-user.ts'
import { passwordReset } from './pages/recovery/password-reset.ts'
import { resendMail } from './pages/recovery/resend-mail.ts'
import { requestPasswordReset } from './pages/recovery/request-password-reset.ts'
import { resetPassword } from './directory/operations/password/reset-password.ts'
import { matchUsers } from './internal/match-users.ts'
import { reactivateUser } from './directory/operations/user/reactivate-user.ts'
import { recordEmailCode } from './internal/mails/record-email-code.ts'
import { register } from './pages/operations/registration/register.ts'
import { removeMachineKey } from './directory/operations/credential/remove-machine-key.ts'
import { removeMachineSecret } from './directory/operations/credential/remove-machine-secret.ts'
import { removeMachineSecrets } from './directory/operations/credential/remove-machine-secrets.ts'
import { removePersonalAccessToken } from './directory/operations/credential/remove-personal-access-token.ts'
import { releaseInstanceOwners } from './internal/release-instance-owners.ts'
import { createInviteCode } from './directory/operations/user/create-invite-code.ts'
import { resendInviteCode } from './directory/operations/user/resend-invite-code.ts'
import { verifyInviteCode } from './directory/operations/user/verify-invite-code.ts'
import { resendEmailCode } from './directory/operations/user/resend-email-code.ts'
import { restoreInstanceOwners } from './internal/restore-instance-owners.ts'
import { restoreUser } from './directory/operations/user/restore-user.ts'
import { retrieveProviderTokens } from './openid/operations/retrieve-provider-tokens.ts'
import { logOutByProvider } from './openid/operations/log-out-by-provider.ts'
import { revokeToken } from './openid/operations/revoke-token.ts'
import { setDPoP } from './openid/operations/set-dpop.ts'
import { setEmail } from './directory/operations/user/set-email.ts'
import { setPassword } from './sessions/operations/set-password.ts'
import { showSignOut } from './pages/operations/sign-out/show-sign-out.ts'
import { signOut } from './pages/operations/sign-out/sign-out.ts'
import { signLogoutToken } from './internal/sign-logout-token.ts'
import { showAccount } from './pages/account/show-account.ts'
import { showLogo } from './pages/operations/show-logo.ts'
import { showSignIn } from './pages/operations/sign-in/show-sign-in.ts'
import { signIn } from './pages/operations/sign-in/sign-in.ts'
import { unlockUser } from './sessions/operations/unlock-user.ts'
import { updateMyPassword } from './directory/operations/password/update-my-password.ts'
import { updateMyProfile } from './directory/operations/user/update-my-profile.ts'
import { findLogo } from './internal/find-logo.ts'
import { findPageBrand } from './internal/find-page-brand.ts'
import { traceUserState } from './internal/trace-user-state.ts'
import { useProof } from './internal/use-proof.ts'
import { verifyEmail } from './directory/operations/user/verify-email.ts'
import { startErasureAgain } from './directory/erasure/erase-again.ts'
import { startDueErasure } from './directory/erasure/erase-due.ts'
import { startErasure } from './directory/erasure/erasure.ts'
import { startErasureInStatistics } from './directory/erasure/erase-in-statistics.ts'
import { saltCodes } from './directory/email/salt-codes.ts'
import { startExpiryWarnings } from './directory/machine-credentials/expiry-warnings.ts'
import { ownerOfSession, ownerOfUser } from './owners.ts'
import { startFollowingProviders } from './sessions/factors/provider/follow-providers.ts'
import { startFollowingApplications } from './openid/applications/follow-applications.ts'
import { startFollowingDomains } from './directory/organizations/verified-domains.ts'
import { startTellingOwners } from './directory/organizations/tell-owners.ts'
import { startKeepingLoginAddresses } from './directory/login-names/login-addresses.ts'
import { startEndingOrganizationSessions } from './sessions/end-organization-sessions.ts'
import { startFollowingOrganizations } from './directory/organizations/follow-organizations.ts'
import { startPruning } from './pruning.ts'
import { startCountingFailures } from './directory/passwords/failures.ts'
import { surplusAuthorizations } from './openid/authorization/surplus.ts'
import { warnOfDeadPasskeys } from './sessions/passkeys/dead-passkeys.ts'
import { surplusSessions } from './sessions/surplus.ts'
import { fillFoundUsers } from './directory/search/found-users.ts'
import { openIdTokenKeys } from './openid/tokens/keys/id-token-keys.ts'
import { openSigningKeys } from './openid/tokens/keys/signing-keys.ts'
import { openArrivals } from './openid/arrivals/arrivals.ts'
import { openFailureCounts } from './directory/passwords/failure-counts.ts'
import { openPasswordHashes } from './directory/passwords/stored-hashes.ts'
import { openSecretUses } from './openid/clients/secret-uses.ts'
import { openCredentialUses } from './directory/machine-credentials/credential-uses.ts'
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
    const idp = createClient(nats, IdpInternal, internalCalls.users.idp)
    const signingKeys = await untilReachable(nats.waits, () => openSigningKeys(sql, keys, config, log))
    const idTokenKeys = await untilReachable(nats.waits, () => openIdTokenKeys(sql, keys, config, log))
    const afterResponse = openAfterResponse(log)
    const secretUses = openSecretUses(sql, log)
    const credentialUses = openCredentialUses(sql, log)
    const failureCounts = openFailureCounts(sql, config, log)
    const arrivals = openArrivals(sql, log)
    const passwordHashes = await untilReachable(nats.waits, () => openPasswordHashes(sql, config))
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
      idp,
      rolesElsewhere,
      announceMail: (mail) => announceMail(nats, mail),
      log,
      afterResponse,
      secretUses,
      credentialUses,
      failureCounts,
      arrivals,
      lockAfterWrong: (user, requestId) => lockAfterWrong(context, user, requestId),
      passwordHashes,
    }
    warnOfDeadPasskeys(context)
    const ownFeed: Feed<object> = (request) => feed({}, request)
    await fillFoundUsers(sql, personal)
    await bootstrap(context, nats.waits)
    const background = [
      startPruning(context),
      surplusSessions.start(context),
      surplusAuthorizations.start(context),
      startExpiryWarnings(context),
      startCountingFailures(context),
      startFinishingInvitations(context),
      ...startFollowingOrganizations(context, nats, log),
      startEndingOrganizationSessions(context, nats, log),
      startFollowingApplications(context, nats, log),
      startFollowingProviders(context, nats, log),
      startFollowingDomains(context, nats, log),
      startTellingOwners(context, nats, log),
      startDueErasure(context),
      startErasure({ sql, nats, log, feed: ownFeed }),
      startKeepingLoginAddresses(context, nats, ownFeed),
      startErasureAgain({ sql, nats, log }),
      startErasureInStatistics({ sql, log }),
      signingKeys,
      idTokenKeys,
      afterResponse,
      secretUses,
      credentialUses,
      failureCounts,
      arrivals,
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
      resendMail,
      createInviteCode,
      resendInviteCode,
      verifyInviteCode,
      deactivateUser,
      reactivateUser,
      lockUser,
      unlockUser,
      deleteUser,
      restoreUser,
      addOTPEmail,
      removeOTPEmail,
      registerTOTP,
      verifyTOTPRegistration,
      removeTOTP,
      generateRecoveryCodes,
      removeRecoveryCodes,
      createPasskeyRegistrationLink,
      registerPasskey,
      verifyPasskeyRegistration,
      listPasskeys,
      listIDPLinks: listIdpLinks,
      removeIDPLink: removeIdpLink,
      addIDPLink: addIdpLink,
      searchIDPLinks: searchIdpLinks,
      startIdentityProviderIntent,
      retrieveIdentityProviderIntent,
      removePasskey,
      registerU2F,
      verifyU2FRegistration,
      removeU2F,
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
      searchUserSignIns,
      countSignIns,
      searchUserSignInFailures,
      searchSignIns,
      searchSignInFailures,
      deleteUserSessions,
      searchUserConsents,
      withdrawConsent,
      explainSignIn,
      explainToken,
    }),
    served<typeof SignInServiceDefinition, Context>(
      SignInServiceDefinition,
      withCookieLifetime({
        authorize,
        showSignIn,
        signIn,
        checkCode,
        checkPasskey,
        signInByProvider,
        returnFromProvider,
        returnFromProviderLogout,
        openIdentityProviderIntent,
        renewPasskeyChallenge,
        chooseAccount,
        register,
        finishRegistration,
        recover,
        showRecovery,
        finishRecovery,
        chooseNewPassword,
        showInvitation,
        openInvitation,
        acceptInvitation,
        decide,
        endSession,
        showSignOut,
        signOut,
        showLogo,
      }),
    ),
    served<typeof InvitationServiceDefinition, Context>(InvitationServiceDefinition, {
      addInvitation,
      bulkAddInvitations,
      getInvitation,
      searchInvitations,
      resendInvitation,
      revokeInvitation,
    }),
    served<typeof LoginPolicyServiceDefinition, Context>(LoginPolicyServiceDefinition, {
      getLoginPolicy,
      updateLoginPolicy,
      resetLoginPolicy,
      getInstanceLoginPolicy: ofInstance(getLoginPolicy),
      updateInstanceLoginPolicy: ofInstance(updateLoginPolicy),
      resetInstanceLoginPolicy: ofInstance(resetLoginPolicy),
    }),
    served<typeof CustomLoginPolicyServiceDefinition, Context>(CustomLoginPolicyServiceDefinition, {
      getCustomLoginPolicy,
      addCustomLoginPolicy,
      updateCustomLoginPolicy,
      resetCustomLoginPolicy,
      changeLoginPolicyFactors,
      changeLoginPolicyProviders,
      getInstanceCustomLoginPolicy: ofInstance(getCustomLoginPolicy),
      updateInstanceCustomLoginPolicy: ofInstance(updateCustomLoginPolicy),
      changeInstanceLoginPolicyFactors: ofInstance(changeLoginPolicyFactors),
      changeInstanceLoginPolicyProviders: ofInstance(changeLoginPolicyProviders),
      getLockoutPolicy,
      setLockoutPolicy,
      getInstanceLockoutPolicy: ofInstance(getLockoutPolicy),
      setInstanceLockoutPolicy: ofInstance(setLockoutPolicy),
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
    served<typeof AccountServiceDefinition, Context>(
      AccountServiceDefinition,
      withCookieLifetime({
        showAccount,
        changeMyProfile,
        changeMyEmail,
        proveMyEmail,
        showTakeBack,
        takeBackEmail,
        changeMyPassword,
        changeMyTOTP,
        changeMyRecoveryCodes,
        showPasskeyLink,
        openPasskeyLink,
        addPasskeyByLink,
        addMyPasskey,
        changeMyPasskey,
        removeMyProvider,
        downloadMyData,
        removeMe,
        endMySession,
        disownSession,
        withdrawMyConsent,
        leaveAccount,
      }),
    ),
    served<typeof AuthRequestServiceDefinition, Context>(AuthRequestServiceDefinition, {
      getAuthRequest,
      createCallback,
    }),
    served<typeof OAuthServiceDefinition, Context>(OAuthServiceDefinition, {
      issueToken,
      introspectToken,
      revokeToken,
      logOutByProvider,
      retrieveProviderTokens,
      listSigningKeys,
      getServerMetadata,
      setDPoP,
      getUserInfo,
    }),
    served<typeof CredentialServiceDefinition, Context>(CredentialServiceDefinition, {
      addPersonalAccessToken,
      listPersonalAccessTokens,
      getPersonalAccessToken,
      removePersonalAccessToken,
      addMachineKey,
      listEndingCredentials,
      listMachineKeys,
      getMachineKey,
      removeMachineKey,
      addMachineSecret,
      listMachineSecrets,
      generateMachineSecret,
      removeMachineSecret,
      removeMachineSecrets,
    }),
    served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, {
      authenticate,
      openConsoleSession,
      getConsoleSession,
      endConsoleSession,
      getSigningKeys,
      useProof,
      findLogo,
      findPageBrand,
      lookupUser,
      lookupUsers,
      traceUserState,
      matchUsers,
      releaseInstanceOwners,
      restoreInstanceOwners,
      getEmailCode,
      recordEmailCode,
      listUnsentEmailCodes,
      listSecretUses,
      searchArrivals,
      getPersonTokenLifetime,
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
