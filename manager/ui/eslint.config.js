import tseslint from "typescript-eslint";

// The page shows texts of many people: nothing may make HTML from text.
const html = ["dangerouslySetInnerHTML", "innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc"];
const banned = html.flatMap((name) => [
  { selector: `JSXAttribute[name.name="${name}"]`, message: "write text, not HTML" },
  { selector: `MemberExpression[property.name="${name}"]`, message: "write text, not HTML" },
]);

export default tseslint.config(
  { ignores: ["src/api/schema.ts", "node_modules"] },
  ...tseslint.configs.strict,
  {
    rules: {
      "no-restricted-syntax": [
        "error",
        ...banned,
        {
          selector: 'JSXAttribute[name.name="style"] > Literal',
          message: "the policy forbids style attributes: use a class",
        },
      ],
      "no-eval": "error",
      "no-implied-eval": "error",
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
      eqeqeq: "error",
    },
  },
);
