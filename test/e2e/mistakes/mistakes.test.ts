import { describe, inject, test } from 'vitest'
import { expectPart } from '../../support/expect-part.ts'
import { openAuthorizeMistakes } from './authorize-mistakes.ts'
import { openSignOutMistakes } from './sign-out-mistakes.ts'
import { writeTable } from './table.ts'
import { openTokenMistakes } from './token-mistakes.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: the log of a Roster by URL is not known)'

describe.skipIf(!house)(`docs/mistakes.md says what is said of each mistake${why}:`, () => {
  test.each([
    ['authorize', openAuthorizeMistakes],
    ['token', openTokenMistakes],
    ['sign-out', openSignOutMistakes],
  ] as const)('%s', { timeout: 120_000 }, async (name, open) => {
    const table = await open()
    const rows: string[][] = []
    for (const mistake of table.mistakes) rows.push([mistake, ...(await table.tell(mistake))])
    expectPart('mistakes.md', name, writeTable(table, rows))
  })
})
