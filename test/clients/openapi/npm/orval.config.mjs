export default {
  roster: {
    input: './openapi.json',
    output: {
      client: 'fetch',
      target: './generated/orval.ts',
      override: { mutator: { path: './orval-fetch.ts', name: 'callRoster' } },
    },
  },
}
