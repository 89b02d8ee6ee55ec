import { write } from '../api/call.ts'
import { useRead } from '../api/queries.ts'
import { useOrganization } from '../address/place.ts'
import { words } from '../machines/words.ts'
import { CredentialForm } from './credential-form.tsx'
import { CredentialList } from './credential-list.tsx'

const service = 'roster.users.v1.CredentialService'

/** What a machine signs in with. */
export function Credentials({ userId }: { userId: string }) {
  return (
    <div class="stack">
      <Keys userId={userId} />
      <Secrets userId={userId} />
      <Tokens userId={userId} />
    </div>
  )
}

function Keys({ userId }: { userId: string }) {
  const organization = useOrganization()
  const query = useRead(`${service}/ListMachineKeys`, { userId })
  const rows = query.data?.keys ?? []
  return (
    <CredentialList
      title={words.keys}
      text={words.keysText}
      empty={words.noKeys}
      add={words.addKey}
      query={query}
      rows={
        query.data &&
        rows.map(({ keyId = '', algorithm = '', ...dates }) => ({
          id: keyId,
          algorithm: algorithm.replace('KEY_ALGORITHM_', ''),
          ...dates,
        }))
      }
      remove={(keyId) => write(`${service}/RemoveMachineKey`, { userId, keyId }, { organization })}
      form={(onClose) => (
        <CredentialForm
          withKey
          title={words.addKey}
          onClose={onClose}
          make={async (asked, key) => {
            const request = { userId, ...asked }
            const made = await write(`${service}/AddMachineKey`, request, { organization, key })
            const { keyDetails = '', keyId } = made
            if (keyDetails === '') return { secrets: [] }
            return { secrets: [{ label: words.keyFile, text: textOf(keyDetails) }], file: `${keyId}.json` }
          }}
        />
      )}
    />
  )
}

// Bytes come in base64. They are JSON in UTF-8.
function textOf(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)))
}

function Secrets({ userId }: { userId: string }) {
  const organization = useOrganization()
  const query = useRead(`${service}/ListMachineSecrets`, { userId })
  return (
    <CredentialList
      title={words.secrets}
      text={words.secretsText}
      empty={words.noSecrets}
      add={words.addSecret}
      query={query}
      rows={query.data && (query.data.secrets ?? []).map(({ secretId = '', ...dates }) => ({ id: secretId, ...dates }))}
      remove={(secretId) => write(`${service}/RemoveMachineSecret`, { userId, secretId }, { organization })}
      form={(onClose) => (
        <CredentialForm
          title={words.addSecret}
          onClose={onClose}
          make={async ({ expirationDate }, key) => {
            const request = { userId, ...(expirationDate && { expirationDate }) }
            const made = await write(`${service}/AddMachineSecret`, request, { organization, key })
            const { clientId = '', clientSecret = '' } = made
            return {
              secrets: [
                { label: words.clientId, text: clientId },
                { label: words.secret, text: clientSecret },
              ],
            }
          }}
        />
      )}
    />
  )
}

function Tokens({ userId }: { userId: string }) {
  const organization = useOrganization()
  const query = useRead(`${service}/ListPersonalAccessTokens`, { userId })
  return (
    <CredentialList
      title={words.tokens}
      text={words.tokensText}
      empty={words.noTokens}
      add={words.addToken}
      query={query}
      rows={query.data && (query.data.tokens ?? []).map(({ tokenId = '', ...dates }) => ({ id: tokenId, ...dates }))}
      remove={(tokenId) => write(`${service}/RemovePersonalAccessToken`, { userId, tokenId }, { organization })}
      form={(onClose) => (
        <CredentialForm
          title={words.addToken}
          onClose={onClose}
          make={async ({ expirationDate }, key) => {
            const request = { userId, ...(expirationDate && { expirationDate }) }
            const { token = '' } = await write(`${service}/AddPersonalAccessToken`, request, { organization, key })
            return { secrets: [{ label: words.token, text: token }] }
          }}
        />
      )}
    />
  )
}
