import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { readAgain, useMay } from '../api/queries.ts'
import { type Column, List } from '../list/list.tsx'
import { words } from '../machines/words.ts'
import { Confirm } from '../pieces/confirm.tsx'
import { say } from '../pieces/notices.tsx'
import { Time } from '../pieces/time.tsx'
import { common } from '../texts/common.ts'

export interface Credential {
  id: string
  creationDate?: string
  expirationDate?: string
  lastUseDate?: string
  algorithm?: string
}

interface CredentialListProps {
  title: string
  text: string
  empty: string
  rows: Credential[] | undefined
  query: { error: Error | null; isFetching: boolean; isPlaceholderData: boolean; refetch: () => unknown }
  /** The words of the button that makes one, and what it opens. */
  add: string
  form: (onClose: () => void) => ComponentChildren
  remove: (id: string) => Promise<unknown>
}

/** Credentials of one kind, and what makes and removes one. */
export function CredentialList({ title, text, empty, rows, query, add, form, remove }: CredentialListProps) {
  const [isAdding, setAdding] = useState(false)
  const [asked, setAsked] = useState<string>()
  const mayWrite = useMay('user.credential.write')
  const act = async (id: string) => {
    await remove(id)
    await readAgain()
    say(words.removed)
  }
  const columns: Column<Credential>[] = [
    {
      label: words.id,
      cell: ({ id, algorithm }) => (
        <>
          <code>{id}</code>
          {algorithm && <small class="line-below">{algorithm}</small>}
        </>
      ),
    },
    { label: words.created, cell: ({ creationDate }) => <Time at={creationDate} />, wide: true },
    { label: words.ends, cell: ({ expirationDate }) => <Ends at={expirationDate} /> },
    { label: words.lastUse, cell: ({ lastUseDate }) => <Time at={lastUseDate} never={words.notUsed} />, wide: true },
    {
      label: common.actions,
      cell: ({ id }) =>
        mayWrite && (
          <span class="does">
            <button class="danger" aria-label={`${common.remove}: ${id}`} onClick={() => setAsked(id)}>
              {common.remove}
            </button>
          </span>
        ),
    },
  ]
  return (
    <div class="card">
      <div class="title">
        <div>
          <h2>{title}</h2>
          <small>{text}</small>
        </div>
        {mayWrite && <button onClick={() => setAdding(true)}>{add}</button>}
      </div>
      <List
        label={title}
        permission="user.credential.read"
        rows={rows}
        keyOf={({ id }) => id}
        query={query}
        empty={empty}
        columns={columns}
      />
      {isAdding && form(() => setAdding(false))}
      {asked !== undefined && (
        <Confirm
          title={words.removeTitle(asked)}
          action={common.remove}
          act={() => act(asked)}
          onClose={() => setAsked(undefined)}
        >
          {words.removeText}
        </Confirm>
      )}
    </div>
  )
}

const soon = 30 * 86_400_000

/** When it ends. What ends within thirty days is marked. */
function Ends({ at }: { at: string | undefined }) {
  if (!at) return <Time at={at} />
  const left = Date.parse(at) - Date.now()
  if (left <= 0) return <span class="tag bad">{words.isOver}</span>
  return left < soon ? (
    <span class="tag warn">
      <Time at={at} />
    </span>
  ) : (
    <Time at={at} />
  )
}
