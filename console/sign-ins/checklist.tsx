import { useIssuer } from '../frameworks/issuer.ts'
import { CopyButton } from '../pieces/copy-button.tsx'
import { words } from './watch-words.ts'

/** What to look at where nothing arrives. */
export function Checklist() {
  const issuer = useIssuer()
  const command = `curl ${issuer}/.well-known/openid-configuration`
  return (
    <div class="inside">
      <p>{words.checklist}</p>
      <ol>
        <li>{words.checkStarted}</li>
        <li>{words.checkOpened}</li>
        <li>{words.checkIssuer(issuer)}</li>
        <li>{words.checkClient}</li>
        <li>
          {words.checkReach}
          <pre tabIndex={0}>{command}</pre>
          <CopyButton text={command} />
        </li>
      </ol>
    </div>
  )
}
