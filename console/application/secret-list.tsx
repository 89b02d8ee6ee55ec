import { useState } from 'preact/hooks'
import type { GrantsApplication, GrantsClientSecret } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { ShownOnce } from '../pieces/shown-once.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { SecretForm } from './secret-form.tsx'
import { secretWords as t } from './secret-words.ts'

const service = 'roster.grants.v1.ApplicationService'
const soon = 30 * 24 * 60 * 60 * 1000

/** The secrets of an application, two at most, so that one can take the place of the other without an outage. */
export function SecretList({ application: { id: appId = '', projectId = '' } }: { application: GrantsApplication }) {
  const organization = useOrganization()
  const mayWrite = useMay('project.app.write', projectId)
  const [edited, setEdited] = useState<GrantsClientSecret>()
  const [removed, setRemoved] = useState<GrantsClientSecret>()
  const [made, setMade] = useState('')
  const query = useRead(`${service}/ListClientSecrets`, { projectId, appId })
  const secrets = query.data && (query.data.secrets ?? [])
  const remove = async () => {
    const secretId = removed?.secretId ?? ''
    await write(`${service}/RemoveClientSecret`, { projectId, appId, secretId }, { organization })
    await readAgain()
    say(t.removed)
  }
  return (
    <div class="card">
      <div class="title">
        <div>
          <h2>{t.secrets}</h2>
          <small>{t.two}</small>
        </div>
        {mayWrite && (
          <button class="primary" data-key="n" disabled={(secrets?.length ?? 2) >= 2} onClick={() => setEdited({})}>
            {t.add}
          </button>
        )}
      </div>
      <List<GrantsClientSecret>
        label={t.secrets}
        permission="project.app.read"
        rows={secrets}
        keyOf={({ secretId = '' }) => secretId}
        query={query}
        empty={t.none}
        columns={[
          { label: t.id, cell: ({ secretId }) => <code>{secretId}</code>, wide: true },
          { label: t.created, cell: ({ creationDate }) => <Time at={creationDate} /> },
          { label: t.ends, cell: (secret) => <End secret={secret} /> },
          { label: t.lastUse, cell: ({ lastUseDate }) => <Time at={lastUseDate} never={t.notUsed} />, wide: true },
          {
            label: common.actions,
            cell: (secret) =>
              mayWrite && (
                <span class="acts">
                  <button aria-label={`${t.end}: ${secret.secretId}`} onClick={() => setEdited(secret)}>
                    {t.end}
                  </button>
                  <button
                    class="danger"
                    aria-label={`${common.remove}: ${secret.secretId}`}
                    onClick={() => setRemoved(secret)}
                  >
                    {common.remove}
                  </button>
                </span>
              ),
          },
        ]}
      />
      {edited && (
        <SecretForm
          appId={appId}
          projectId={projectId}
          secret={edited}
          onMade={setMade}
          onClose={() => setEdited(undefined)}
        />
      )}
      {made && (
        <ShownOnce title={t.addedTitle} secrets={[{ label: t.secret, text: made }]} onClose={() => setMade('')} />
      )}
      {removed && (
        <Confirm
          title={t.remove(removed.secretId ?? '')}
          action={common.remove}
          act={remove}
          onClose={() => setRemoved(undefined)}
        >
          {t.removeText}{' '}
          {removed.lastUseDate && (
            <b>
              {t.lastUsed} <Time at={removed.lastUseDate} />.
            </b>
          )}
        </Confirm>
      )}
    </div>
  )
}

function End({ secret: { expirationDate } }: { secret: GrantsClientSecret }) {
  const isSoon = expirationDate !== undefined && Date.parse(expirationDate) - Date.now() < soon
  return (
    <>
      <Time at={expirationDate} never={t.noEnd} /> {isSoon && <span class="tag warn">{t.soon}</span>}
    </>
  )
}
