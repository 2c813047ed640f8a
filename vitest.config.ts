import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Generous: on a loaded machine a test may wait long for its turn, and none depends on speed.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
