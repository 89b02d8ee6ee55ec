import type { GrantsApplication } from '#gen/console/api'
import { useMay } from '../api/queries.ts'
import { Check } from '../form/check.tsx'
import { Choice, Field } from '../form/field.tsx'
import { FormView } from '../form/form.tsx'
import { Lines } from '../form/lines.tsx'
import { algorithms, apiAuthMethods, appTypes, authMethods, settingWords as w, tokenTypes } from './setting-words.ts'
import { useSettings } from './use-settings.ts'

export const labels: Record<string, string> = {
  name: w.name,
  'apiConfig.authMethodType': w.authMethod,
  'oidcConfig.redirectUris': w.redirectUris,
  'oidcConfig.postLogoutRedirectUris': w.afterSignOut,
  'oidcConfig.devMode': w.devMode,
  'oidcConfig.appType': w.appType,
  'oidcConfig.authMethodType': w.authMethod,
  'oidcConfig.grantTypes': w.refresh,
  'oidcConfig.accessTokenType': w.accessToken,
  'oidcConfig.accessTokenLifetime': w.lifetime,
  'oidcConfig.idTokenAlgorithm': w.algorithm,
  'oidcConfig.accessTokenRoleAssertion': w.accessRoles,
  'oidcConfig.idTokenRoleAssertion': w.idRoles,
  'oidcConfig.idTokenUserinfoAssertion': w.userinfo,
  'oidcConfig.clockSkew': w.skew,
  'oidcConfig.backChannelLogoutUri': w.logoutUri,
  'oidcConfig.loginVersion.loginV2.baseUri': w.loginPages,
  'oidcConfig.allowMissingPkce': w.missingPkce,
  'oidcConfig.firstParty': w.firstParty,
  'oidcConfig.rosterApi': w.rosterApi,
  'oidcConfig.organizationId': w.organization,
}

/** Every setting of an application. */
export function Settings({ application }: { application: GrantsApplication }) {
  const mayWrite = useMay('project.app.write', application.projectId)
  const form = useSettings(application)
  const about = (name: string) => ({ form, name, label: labels[name]! })
  if (application.apiConfig)
    return (
      <div class="card form">
        <fieldset disabled={mayWrite !== true}>
          <FormView form={form} labels={labels}>
            <Field {...about('name')} />
            <Choice {...about('apiConfig.authMethodType')} options={apiAuthMethods} />
          </FormView>
        </fieldset>
      </div>
    )
  return (
    <div class="card form">
      <fieldset disabled={mayWrite !== true}>
        <FormView form={form} labels={labels}>
          <fieldset class="part">
            <legend>{w.general}</legend>
            <Field {...about('name')} />
            <div class="both">
              <Choice {...about('oidcConfig.appType')} options={appTypes} />
              <Choice {...about('oidcConfig.authMethodType')} options={authMethods} />
            </div>
          </fieldset>
          <fieldset class="part">
            <legend>{w.signingIn}</legend>
            <Lines {...about('oidcConfig.redirectUris')} hint={w.redirectUrisHint} />
            <Check {...about('oidcConfig.devMode')} hint={w.devModeHint} />
            <Check {...about('oidcConfig.firstParty')} />
            <Field {...about('oidcConfig.organizationId')} hint={w.organizationHint} optional />
            <Field {...about('oidcConfig.loginVersion.loginV2.baseUri')} hint={w.loginPagesHint} optional />
          </fieldset>
          <fieldset class="part">
            <legend>{w.tokens}</legend>
            <Check {...about('oidcConfig.grantTypes')} hint={w.refreshHint} />
            <Choice {...about('oidcConfig.accessTokenType')} options={tokenTypes} />
            <div class="both">
              <Field {...about('oidcConfig.accessTokenLifetime')} hint={w.lifetimeHint} optional />
              <Choice {...about('oidcConfig.idTokenAlgorithm')} options={algorithms} />
            </div>
            <Check {...about('oidcConfig.idTokenUserinfoAssertion')} hint={w.userinfoHint} />
          </fieldset>
          <fieldset class="part">
            <legend>{w.roles}</legend>
            <Check {...about('oidcConfig.idTokenRoleAssertion')} hint={w.idRolesHint} />
            <Check {...about('oidcConfig.accessTokenRoleAssertion')} hint={w.idRolesHint} />
          </fieldset>
          <fieldset class="part">
            <legend>{w.signingOut}</legend>
            <Lines {...about('oidcConfig.postLogoutRedirectUris')} hint={w.afterSignOutHint} />
            <Field {...about('oidcConfig.backChannelLogoutUri')} hint={w.logoutUriHint} optional />
          </fieldset>
          <fieldset class="part">
            <legend>{w.special}</legend>
            <Field {...about('oidcConfig.clockSkew')} hint={w.skewHint} optional />
            <Check {...about('oidcConfig.allowMissingPkce')} hint={w.missingPkceHint} />
            <Check {...about('oidcConfig.rosterApi')} hint={w.rosterApiHint} />
          </fieldset>
        </FormView>
      </fieldset>
    </div>
  )
}
