import { lazy, Suspense } from 'preact/compat'
import type { GrantsApplication } from '#gen/console/api'
import { useMay } from '../api/queries.ts'
import { clientIdOf } from '../applications/about-application.tsx'
import { Check } from '../form/check.tsx'
import { FormView } from '../form/form.tsx'
import { Lines } from '../form/lines.tsx'
import { CopyButton } from '../pieces/copy-button.tsx'
import { common } from '../texts/common.ts'
import { useIssuer } from '../frameworks/issuer.ts'
import { settingWords as w } from './setting-words.ts'
import { labels } from './settings.tsx'
import { useSettings } from './use-settings.ts'
import { WhoMay } from './who-may.tsx'
import { words } from './words.ts'

const Paste = lazy(() => import('./paste.tsx'))
const Watch = lazy(() => import('../sign-ins/watch-sign-in.tsx'))

/** What one needs to let an application sign people in: its addresses, its id, and who may come. */
export function SetUp({ application }: { application: GrantsApplication }) {
  return (
    <div class="cols">
      <div class="stack">
        {application.oidcConfig ? <Addresses application={application} /> : <p class="soft">{words.noSignIn}</p>}
        <Suspense fallback={null}>
          <Paste application={application} />
        </Suspense>
      </div>
      <div class="stack">
        {application.oidcConfig && (
          <Suspense fallback={null}>
            <Watch projectId={application.projectId ?? ''} applicationId={application.id ?? ''} />
          </Suspense>
        )}
        <Needs application={application} />
        {application.oidcConfig && <WhoMay application={application} />}
      </div>
    </div>
  )
}

function Addresses({ application }: { application: GrantsApplication }) {
  const mayWrite = useMay('project.app.write', application.projectId)
  const form = useSettings(application)
  return (
    <div class="card">
      <div class="title">
        <h2>{words.addresses}</h2>
      </div>
      <fieldset disabled={mayWrite !== true}>
        <FormView form={form} labels={labels}>
          <Lines
            form={form}
            name="oidcConfig.redirectUris"
            label={w.redirectUris}
            hint={w.redirectUrisHint}
            placeholder="https://"
          />
          <Lines
            form={form}
            name="oidcConfig.postLogoutRedirectUris"
            label={w.afterSignOut}
            hint={w.afterSignOutHint}
            placeholder="https://"
          />
          <Check form={form} name="oidcConfig.devMode" label={w.devMode} hint={w.devModeHint} />
        </FormView>
      </fieldset>
    </div>
  )
}

function Needs({ application }: { application: GrantsApplication }) {
  const facts = {
    [words.issuer]: useIssuer(),
    'Client ID': clientIdOf(application),
    [words.appId]: application.id ?? '',
  }
  return (
    <div class="card">
      <div class="title">
        <h2>{words.yours}</h2>
      </div>
      <dl class="facts slim">
        {Object.entries(facts).map(([label, value]) => (
          <>
            <dt>{label}</dt>
            <dd>
              <code>{value}</code>
            </dd>
            <dd>{value && <CopyButton text={value} label={`${common.copy}: ${label}`} />}</dd>
          </>
        ))}
      </dl>
    </div>
  )
}
