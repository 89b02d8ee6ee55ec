import { lazy, Suspense } from 'preact/compat'
import { useState } from 'preact/hooks'
import { Link } from 'wouter-preact'
import { useHere } from '../address/place.ts'
import { useIssuer } from '../frameworks/issuer.ts'
import { linesOf } from '../form/merge.ts'
import { frameworks } from '../frameworks/frameworks.ts'
import { makeRandom } from '../frameworks/random.ts'
import { Snippets } from '../frameworks/snippets.tsx'
import type { Added } from './add-application.ts'
import type { Chosen } from './wizard-form.tsx'
import { words } from './words.ts'

const Watch = lazy(() => import('../sign-ins/watch-sign-in.tsx'))

/** The lines to paste, with the secret, which nobody sees again. */
export function Result({ added, chosen }: { added: Added; chosen: Chosen }) {
  const here = useHere()
  const issuer = useIssuer()
  const [random] = useState(makeRandom)
  const framework = frameworks[chosen.framework]!
  const { projectId, appId, clientId, clientSecret } = added
  const [address = framework.address] = linesOf(chosen.addresses)
  const project = here(`/projects/${encodeURIComponent(projectId)}`)
  return (
    <>
      <div class="head">
        <div>
          <h1>{words.ready(chosen.name || framework.name)}</h1>
          {clientSecret && <small>{words.once}</small>}
        </div>
      </div>
      <div class="cols">
        {issuer && (
          <Snippets
            id={chosen.framework}
            framework={framework}
            facts={{ issuer, projectId, clientId, clientSecret, address, random }}
          />
        )}
        <div class="stack">
          {clientId && framework.registers !== 'api' && (
            <Suspense fallback={null}>
              <Watch projectId={projectId} applicationId={appId} />
            </Suspense>
          )}
          <div class="card">
            <div class="title">
              <h2>{words.next}</h2>
            </div>
            <ul class="links">
              {appId && (
                <li>
                  <Link href={`${project}/applications/${encodeURIComponent(appId)}`}>{words.toApplication}</Link>
                </li>
              )}
              <li>
                <Link href={`${project}/roles`}>{words.toRoles}</Link>
              </li>
              <li>
                <Link href={`${project}/access`}>{words.toAccess}</Link>
              </li>
            </ul>
          </div>
        </div>
      </div>
    </>
  )
}
