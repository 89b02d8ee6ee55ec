import { useQuery } from '@tanstack/preact-query'
import { CopyButton } from '../pieces/copy-button.tsx'
import { common } from '../texts/common.ts'
import { envOf, type Facts, type Framework } from './framework.ts'
import { frameworkWords as t } from './words.ts'

/** What one pastes: the `.env`, the commands, and the code, each to copy. */
export function Snippets({ id, framework, facts }: { id: string; framework: Framework; facts: Facts }) {
  const { data: files = [] } = useQuery({
    queryKey: ['lines', id, facts.issuer, facts.address],
    queryFn: () => framework.files(facts),
    staleTime: Infinity,
  })
  const env = envOf(framework.env({ ...facts, clientSecret: facts.clientSecret || '…' }))
  return (
    <div class="stack">
      <Lines
        name={t.env}
        text={env}
        hint={facts.clientSecret === '' && env.includes('=…') ? t.secretHint : undefined}
      />
      {framework.commands.length > 0 && <Lines name={t.run} text={`${framework.commands.join('\n')}\n`} />}
      {framework.commands.length === 0 && <p class="soft">{t.noCode}</p>}
      {files.map(({ name, text }) => (
        <Lines key={name} name={name} text={text} />
      ))}
    </div>
  )
}

function Lines({ name, text, hint }: { name: string; text: string; hint?: string | undefined }) {
  return (
    <section class="card lines" aria-label={name}>
      <div class="title">
        <h2>{name}</h2>
        <CopyButton text={text} label={`${common.copy}: ${name}`} />
      </div>
      <pre tabIndex={0}>{text}</pre>
      {hint && <p class="soft">{hint}</p>}
    </section>
  )
}
