import type { ComponentChildren } from 'preact'
import type { IdpIDP } from '#gen/console/api'
import { useIssuer } from '../frameworks/issuer.ts'
import { CopyButton } from '../pieces/copy-button.tsx'
import { type Kind, kindNames, kindOf, signsIn } from '../providers/kinds.ts'
import { common } from '../texts/common.ts'
import { ClientForm } from './client-form.tsx'
import { OnSignInPage } from './on-sign-in-page.tsx'
import { audienceStep, steps } from './set-up-words.ts'
import { Test } from './test.tsx'
import { Try } from './try.tsx'
import { words } from './words.ts'

/** From the provider's console to the button on the sign-in page. */
export function SetUp({ provider }: { provider: IdpIDP }) {
  const kind = kindOf(provider)
  const { client } = steps[kind]!
  return (
    <div class="cols">
      <div class="stack">
        {!signsIn(kind) && <p class="soft">{words.notYet(kindNames[kind])}</p>}
        <AtProvider provider={provider} kind={kind} />
        {client && (
          <ClientForm provider={provider} labels={client} title={titleOf(kind, words.given, words.givenOther)} />
        )}
      </div>
      <div class="stack">
        <Test provider={provider} />
        <Try provider={provider} />
        <OnSignInPage provider={provider} />
      </div>
    </div>
  )
}

/** As idp has it. */
export function redirectUriOf(issuer: string, { id = '', oidc }: Pick<IdpIDP, 'id' | 'oidc'>): string {
  switch (oidc?.callback) {
    case 'IDP_CALLBACK_ZITADEL':
      return `${issuer}/idps/callback`
    case 'IDP_CALLBACK_ZITADEL_V1':
      return `${issuer}/ui/login/login/externalidp/callback`
    default:
      return `${issuer}/ui/login/idps/${encodeURIComponent(id)}/callback`
  }
}

function AtProvider({ provider, kind }: { provider: IdpIDP; kind: Kind }) {
  const issuer = useIssuer()
  const { id = '', jwt } = provider
  const { before, uri, after } = steps[kind]!
  return (
    <div class="card">
      <div class="title">
        <h2>{titleOf(kind, words.atProvider, words.atOther)}</h2>
      </div>
      <ol class="text steps">
        {before.map((text, at) => (
          <li key={text}>
            {text}
            {at === before.length - 1 && issuer && <Copied label={uri}>{redirectUriOf(issuer, provider)}</Copied>}
          </li>
        ))}
        {after.map((text) => (
          <li key={text}>{text}</li>
        ))}
        {jwt && issuer && (
          <li>
            {audienceStep}
            <Copied label="aud">{jwt.audience || usualAudience(issuer, id)}</Copied>
          </li>
        )}
      </ol>
    </div>
  )
}

/** Whom the tokens of a proxy are for, where its record does not say. */
export function usualAudience(issuer: string, id: string): string {
  return `${issuer}/idps/${id}`
}

function Copied({ label, children }: { label: string; children: string }) {
  return (
    <div class="once">
      <span class="label">{label}</span>
      <pre tabIndex={0}>{children as ComponentChildren}</pre>
      <CopyButton text={children} label={`${common.copy}: ${label}`} />
    </div>
  )
}

// One that has a name is called by it.
function titleOf(kind: Kind, named: (name: string) => string, other: string): string {
  return ['oidc', 'oauth', 'jwt'].includes(kind) ? other : named(kindNames[kind])
}
