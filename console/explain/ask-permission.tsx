import { useId, useState } from 'preact/hooks'
import { useRead } from '../api/queries.ts'
import { words } from './words.ts'

interface AskPermissionProps {
  asked: string
  at: string
  onAsk: (asked: string, at: string) => void
}

/** A permission or an operation, and the moment: the answer may be as of before. */
export function AskPermission({ asked, at, onAsk }: AskPermissionProps) {
  const id = useId()
  const [typed, setTyped] = useState(asked)
  const [moment, setMoment] = useState(at)
  const { data } = useRead('roster.grants.v1.UserGrantService/GetMyPermissions', {})
  const submit = (event: Event) => {
    event.preventDefault()
    onAsk(typed.trim(), moment)
  }
  return (
    <form class="fields" onSubmit={submit}>
      <label>
        {words.permission}
        <input
          value={typed}
          list={id}
          required
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <small>{words.permissionHint}</small>
      </label>
      <datalist id={id}>
        {data?.permissions?.map((permission) => (
          <option key={permission} value={permission} />
        ))}
      </datalist>
      <label>
        {words.asOf}
        <input type="datetime-local" value={moment} onInput={(event) => setMoment(event.currentTarget.value)} />
        <small>{words.asOfHint}</small>
      </label>
      <div class="actions">
        <button class="primary">{words.ask}</button>
      </div>
    </form>
  )
}
