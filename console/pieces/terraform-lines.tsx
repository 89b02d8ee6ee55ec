import type { Sent } from '../api/sent.ts'
import { common } from '../texts/common.ts'
import { CopyButton } from './copy-button.tsx'
import { terraformOf } from './terraform.ts'

/** What was just made as a resource of Terraform, where the provider has the kind. */
export default function TerraformLines({ sent }: { sent: Sent }) {
  const text = terraformOf(sent)
  if (text === undefined) return null
  return (
    <>
      <h3>{common.terraform}</h3>
      <pre tabIndex={0}>{text}</pre>
      <div class="actions">
        <CopyButton text={text} />
      </div>
    </>
  )
}
