import { useState } from 'preact/hooks'
import type { GrantsApplication, GrantsApplicationKey } from '#gen/console/api'
import { useOrganization } from '../address/place.ts'
import { write } from '../api/call.ts'
import { readAgain, useMay, useRead } from '../api/queries.ts'
import { List } from '../list/list.tsx'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { ShownOnce } from '../pieces/shown-once.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'
import { KeyForm } from './key-form.tsx'
import { secretWords as t } from './secret-words.ts'

const service = 'roster.grants.v1.ApplicationService'

/** The keys that an application signs with. */
export function KeyList({ application: { id: appId = '', projectId = '' } }: { application: GrantsApplication }) {
  const organization = useOrganization()
  const mayWrite = useMay('project.app.write', projectId)
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState('')
  const [made, setMade] = useState('')
  const query = useRead(`${service}/ListApplicationKeys`, { projectId, appId })
  const remove = async () => {
    await write(`${service}/RemoveApplicationKey`, { projectId, appId, keyId: removed }, { organization })
    await readAgain()
    say(t.keyRemoved)
  }
  return (
    <div class="card">
      <div class="title">
        <div>
          <h2>{t.keys}</h2>
          <small>{t.usesKeys}</small>
        </div>
        {mayWrite && (
          <button class="primary" data-key="n" onClick={() => setAdding(true)}>
            {t.addKey}
          </button>
        )}
      </div>
      <List<GrantsApplicationKey>
        label={t.keys}
        permission="project.app.read"
        rows={query.data && (query.data.keys ?? [])}
        keyOf={({ keyId = '' }) => keyId}
        query={query}
        empty={t.noKeys}
        columns={[
          { label: t.id, cell: ({ keyId }) => <code>{keyId}</code> },
          { label: t.algorithm, cell: ({ algorithm }) => algorithm?.replace('KEY_ALGORITHM_', ''), wide: true },
          { label: t.created, cell: ({ creationDate }) => <Time at={creationDate} />, wide: true },
          { label: t.ends, cell: ({ expirationDate }) => <Time at={expirationDate} never={t.noEnd} /> },
          {
            label: common.actions,
            cell: ({ keyId = '' }) =>
              mayWrite && (
                <span class="acts">
                  <button class="danger" aria-label={`${common.remove}: ${keyId}`} onClick={() => setRemoved(keyId)}>
                    {common.remove}
                  </button>
                </span>
              ),
          },
        ]}
      />
      {isAdding && <KeyForm appId={appId} projectId={projectId} onMade={setMade} onClose={() => setAdding(false)} />}
      {made && (
        <ShownOnce
          title={t.keyTitle}
          secrets={[{ label: t.keyFile, text: made }]}
          file="application-key.json"
          onClose={() => setMade('')}
        />
      )}
      {removed && (
        <Confirm title={t.removeKey(removed)} action={common.remove} act={remove} onClose={() => setRemoved('')}>
          {t.removeKeyText}
        </Confirm>
      )}
    </div>
  )
}
