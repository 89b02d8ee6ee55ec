import { useId, useState } from 'preact/hooks'
import type { GrantsApplication } from '#gen/console/api'
import { clientIdOf } from '../applications/about-application.tsx'
import type { Framework } from '../frameworks/framework.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { useIssuer } from '../frameworks/issuer.ts'
import { makeRandom } from '../frameworks/random.ts'
import { Snippets } from '../frameworks/snippets.tsx'
import { words } from './words.ts'

/** The lines for an application that is there already: in the framework that its redirect URIs look like, or another one. */
export default function Paste({ application }: { application: GrantsApplication }) {
  const select = useId()
  const issuer = useIssuer()
  const [random] = useState(makeRandom)
  const [id, setId] = useState(() => frameworkOf(application))
  const framework = frameworks[id]!
  const { projectId = '', oidcConfig } = application
  const uri = oidcConfig?.redirectUris?.[0] ?? ''
  const address = uri.endsWith(framework.callback) && framework.callback ? uri.slice(0, -framework.callback.length) : ''
  const facts = {
    issuer,
    projectId,
    clientId: clientIdOf(application),
    clientSecret: '',
    address: address || framework.address,
    random,
  }
  const fitting = Object.entries(frameworks).filter(([, { registers }]) => registers === kindOf(application))
  return (
    <section aria-label={words.paste}>
      <div class="head">
        <h2>{words.paste}</h2>
        <label class="unseen" for={select}>
          {words.framework}
        </label>
        <select id={select} class="filter" value={id} onChange={(event) => setId(event.currentTarget.value)}>
          {fitting.map(([value, { name }]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {issuer && <Snippets id={id} framework={framework} facts={facts} />}
    </section>
  )
}

function kindOf({ oidcConfig }: GrantsApplication): Framework['registers'] {
  if (!oidcConfig) return 'api'
  if (oidcConfig.appType === 'OIDC_APP_TYPE_USER_AGENT') return 'page'
  return oidcConfig.appType === 'OIDC_APP_TYPE_NATIVE' ? 'device' : 'web'
}

function frameworkOf(application: GrantsApplication): string {
  const uris = application.oidcConfig?.redirectUris ?? []
  const fitting = Object.entries(frameworks).filter(([, { registers }]) => registers === kindOf(application))
  const found = fitting.find(([, { callback }]) => callback !== '' && uris.some((uri) => uri.endsWith(callback)))
  return (found ?? fitting[0])![0]
}
