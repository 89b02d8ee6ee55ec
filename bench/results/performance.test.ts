import { expect, test } from 'vitest'
import { drawPerformance } from './page.ts'
import { readResults } from './results.ts'

test('docs/performance.md and its pictures show the latest results', async () => {
  for (const [name, text] of Object.entries(drawPerformance(readResults())))
    await expect(text).toMatchFileSnapshot(`../../docs/${name}`)
})
